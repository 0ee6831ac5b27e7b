package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/watch"
	"github.com/cmemd/cmemd/internal/api"
)

const watchHelp = `Shows which transcripts the daemon follows, and how far each was read.

An agent without hooks is followed by what it writes down itself: name it in the setting watch, and the daemon takes in what
its transcripts grow by. What hooks report of the same session is known by its key and recorded once.`

func newWatch(a *terminal.App) *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Show which transcripts are followed", Long: watchHelp, Args: terminal.Takes(0, 0, ""),
		Example: "  cmemd config set watch codex\n  cmemd config set watch codex,gemini-cli=~/work/**/*.jsonl\n  cmemd restart; cmemd watch",
		RunE:    func(c *cobra.Command, _ []string) error { return showWatch(c.Context(), a) },
	}
}

// watchReport is what is followed, and what the settings say of it.
type watchReport struct {
	watch.State
	Running   bool   `json:"running"`   // a daemon answers
	Following string `json:"following"` // the setting watch by which it started
	Setting   string `json:"setting"`   // the setting now
}

func showWatch(ctx context.Context, a *terminal.App) error {
	w, err := readWatching(ctx, a)
	if err != nil {
		return err
	}
	return a.Show(w, func() { printWatching(a, w) })
}

func printWatching(a *terminal.App, w watchReport) {
	printWatchState(a, w)
	if w.Setting == "" && w.Following == "" {
		return
	}
	t := terminal.List{Head: []string{"AGENT", "CHANGED", "READ", "LINES", "NEW", "BAD", "FILE"}}
	for _, f := range w.Files {
		t.Add(f.Agent, terminal.Moment(f.Changed), fmt.Sprintf("%d of %d", f.Offset, f.Size), fmt.Sprint(f.Lines), fmt.Sprint(f.Captured),
			fmt.Sprint(f.Bad), f.Path+errorOf(f))
	}
	a.Print(t)
}

func readWatching(ctx context.Context, a *terminal.App) (w watchReport, err error) {
	home, err := a.Home()
	if err != nil {
		return w, err
	}
	l, err := config.ForHome(a)
	if err != nil {
		return w, err
	}
	w.Setting = l.Values()["watch"]
	if w.State, err = watch.Load(homedir.PathsOf(home).Watch); err != nil {
		return w, err
	}
	st, err := a.Status(ctx)
	w.Running, w.Following = err == nil, st.Settings["watch"]
	if errors.Is(err, api.ErrNotRunning) {
		return w, nil
	}
	return w, err
}

func printWatchState(a *terminal.App, w watchReport) {
	if w.Following != "" {
		a.Infof("followed as of %s: %s", terminal.Moment(w.At), terminal.VisibleLine(strings.Join(w.Rules, ", ")))
		if !w.Notices {
			a.Infof("the system gives no notice of files: folders are looked at every half minute")
		}
	}
	switch {
	case w.Following == "" && w.Setting == "":
		a.Infof("no transcripts are followed; `cmemd config set watch codex` has those of Codex followed, from the next start on")
	case !w.Running:
		a.Infof("the daemon is not running; from its next start on it follows %s", terminal.VisibleLine(w.Setting))
	case w.Setting == "":
		a.Infof("the setting watch is empty now; from its next start on the daemon follows nothing: `cmemd restart`")
	case w.Following != w.Setting:
		a.Infof("the setting watch is %s now; the daemon heeds it from its next start on: `cmemd restart`", terminal.VisibleLine(w.Setting))
	}
}

func errorOf(f watch.File) string {
	if f.Error == "" {
		return ""
	}
	return " (not read: " + f.Error + ")"
}
