package operate

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

const uiHelp = `Ui opens a page that shows what is known, why, and what was lost, and mends it. The daemon serves it on this machine alone. The
link lets in one browser, once, within a minute; that browser is let in from then on, until it was not used for 30 days,
` + "`cmemd ui --sign-out`" + ` or ` + "`cmemd token rotate`" + `. A link that was used twice lets nobody in: open the page anew.

A page that a person opens in their own terminal changes memory as they may; --read-only opens one that only shows, and so does
an agent. From another machine, first ` + "`ssh -L 37911:127.0.0.1:37911 HOST`" + `, then open what ` + "`cmemd ui --print`" + ` prints there.`

func newUI(a *terminal.App) *cobra.Command {
	var q api.LinkRequest
	printed, out := false, false
	c := &cobra.Command{
		Use: "ui", Short: "Open the page that shows memory, its causes and its losses", Long: uiHelp, Args: terminal.Takes(0, 0, ""),
		Example: "  cmemd ui\n  cmemd ui --project . --read-only\n  cmemd ui --sign-out",
		RunE: func(c *cobra.Command, _ []string) error {
			if out {
				return terminal.Answer(c.Context(), a, api.SignOutAllRoute, api.NoQuery{}, showSignedOut)
			}
			return terminal.Answer(c.Context(), a, api.LinkRoute, q, func(a *terminal.App, link api.Link) error {
				return openPage(c.Context(), a, link, q, printed)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&q.ReadOnly, "read-only", false, "a page that only shows")
	f.BoolVar(&printed, "print", false, "print the link, and open nothing")
	f.BoolVar(&out, "sign-out", false, "let no browser in any more")
	terminal.ProjectFlag(c, &q.Project, "begin with a project: its name, or any folder of it")
	terminal.NotTogether(c, "sign-out", "read-only")
	terminal.NotTogether(c, "sign-out", "print")
	terminal.NotTogether(c, "sign-out", "project")
	return c
}

func showSignedOut(a *terminal.App, s api.SignedOut) error {
	a.Printf("%s %s let in no more\n", number.Plural(s.Viewers, "browser"), number.IsOrAre(s.Viewers))
	return nil
}

// openPage has a browser open a link, or prints it.
func openPage(ctx context.Context, a *terminal.App, link api.Link, q api.LinkRequest, printed bool) error {
	if link.Scope == api.ScopeView && !q.ReadOnly {
		a.Infof("the page only shows: who asks is an agent, or in an editor's terminal; run it in your own to edit")
	}
	if a.JSON { // the answer was printed
		return nil
	}
	if !printed {
		err := browse(ctx, a, link.URL)
		if err == nil {
			a.Infof("opened %s in your browser", withoutCode(link.URL))
			return nil
		}
		a.Infof("no browser was opened (%s); open this within a minute:", terminal.Visible(err.Error()))
	}
	a.Printf("%s\n", link.URL)
	return nil
}

// withoutCode is a link that may be read by anybody.
func withoutCode(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return "it"
	}
	u.Fragment = ""
	return terminal.Visible(u.String())
}

// openerWait is how long the system's opener is waited for. One that finds no browser says so before; one that runs on is one that is
// the browser, or waits for it, and is left alone: the link was used, and a second use would let nobody in.
const openerWait = 3 * time.Second

// errNoScreen is a terminal on which no browser of this machine shows.
var errNoScreen = errors.New("there is no screen here")

// browse has the system open a link. It returns nil where a browser was found, or is still being looked for after openerWait.
func browse(ctx context.Context, a *terminal.App, link string) error {
	opener := []string{"xdg-open"}
	screen := a.Getenv("DISPLAY")+a.Getenv("WAYLAND_DISPLAY") != ""
	switch runtime.GOOS {
	case "darwin":
		opener, screen = []string{"open"}, true
	case "windows":
		opener, screen = []string{"rundll32", "url.dll,FileProtocolHandler"}, true
	}
	if !screen || a.Getenv("SSH_CONNECTION") != "" {
		return errNoScreen
	}
	cmd := exec.Command(opener[0], append(opener[1:], link)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the opener, or with this command
	select {
	case err := <-ended:
		return err
	case <-time.After(openerWait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
