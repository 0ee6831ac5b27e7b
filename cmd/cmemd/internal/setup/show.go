package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/programs"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/redact"
)

// What became of an agent.
const (
	installPlanned   = "planned"   // shown, and not done
	installDone      = "installed" // changed as shown
	installRemoved   = "removed"   // the same of a removal
	installUnchanged = "unchanged" // all is as it should be
	installRefused   = "refused"   // something stands in the way, nothing was changed
	installFailed    = "failed"    // something went wrong in the middle
)

// A shownInstall is what is said of one agent.
type shownInstall struct {
	Agent    string          `json:"agent"`
	Title    string          `json:"title"`
	Method   string          `json:"method"`
	State    string          `json:"state"`
	Files    []shownFile     `json:"files"`
	Folder   string          `json:"folder,omitempty"` // the plugin's, which is written or removed
	Commands []string        `json:"commands,omitempty"`
	Trust    []install.Trust `json:"trust,omitempty"` // what Codex says of the hooks
	Notes    []string        `json:"notes,omitempty"`
	Error    string          `json:"error,omitempty"`

	agent      install.Agent
	plan       install.Plan
	notesShown int // how many of the notes were shown
}

// planned reports whether there is something to do, and it is not done.
func (s *shownInstall) planned() bool { return s.State == installPlanned }

// A shownFile is one change.
type shownFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // create, edit, delete
	Mode   string `json:"mode,omitempty"`
	Diff   string `json:"diff"`
}

// show says what a plan is about. Secrets that stand beside the changes are not shown.
func (x *installation) show(agent install.Agent, p install.Plan, err error) *shownInstall {
	s := &shownInstall{
		Agent: agent.Name, Title: agent.Title, Method: p.Method, State: installPlanned, Files: []shownFile{}, Folder: p.TreeDir, Notes: p.Notes,
		agent: agent, plan: p,
	}
	switch {
	case err != nil:
		s.State, s.Error = installRefused, terminal.Describe(err)
		if errors.Is(err, install.ErrMethod) {
			s.Notes = append(s.Notes, fmt.Sprintf("`cmemd uninstall %s` first", agent.Name))
		}
		return s
	case p.Nothing():
		s.State = installUnchanged
	}
	hide := redact.New()
	for _, c := range p.Changes {
		f := shownFile{Path: c.Path, Action: "edit"}
		switch {
		case c.Before == nil:
			f.Action = "create"
		case c.After == nil:
			f.Action = "delete"
		case c.Mode != c.Old:
			f.Mode = fmt.Sprintf("%04o -> %04o", c.Old, c.Mode)
		}
		diff := c.Diff()
		if token := x.options.HTTP; token != nil {
			diff = bytes.ReplaceAll(diff, []byte(token.Token), []byte(noToken))
		}
		f.Diff, _ = hide.Text(string(diff))
		s.Files = append(s.Files, f)
	}
	for _, c := range p.Commands {
		s.Commands = append(s.Commands, strings.Join(c.Args, " "))
	}
	return s
}

// changedLines is how many lines come and go, of a change whose difference is text.
func (f shownFile) changedLines() (plus, minus int) {
	begun := false
	for line := range strings.Lines(f.Diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			begun = true
		case !begun: // the names of the two files
		case strings.HasPrefix(line, "+"):
			plus++
		case strings.HasPrefix(line, "-"):
			minus++
		}
	}
	return plus, minus
}

// print shows a change: whole to somebody who is to decide, else on one line.
func (f shownFile) print(a *terminal.App, brief bool) {
	line := f.Action + " " + terminal.VisibleLine(f.Path)
	if f.Mode != "" {
		line += " " + f.Mode
	}
	if brief {
		plus, minus := f.changedLines()
		a.Printf("%s (+%d -%d lines)\n", line, plus, minus)
		return
	}
	a.Printf("%s\n%s", line, terminal.Visible(f.Diff))
}

// printInstalls shows what would change. Brief leaves the differences out.
func printInstalls(a *terminal.App, all []*shownInstall, brief bool) {
	if len(all) == 0 {
		a.Infof("cmemd is in no agent of this machine")
	}
	for _, s := range all {
		a.Heading("%s (%s): %s", s.Title, s.Agent, s.State)
		for _, f := range s.Files {
			f.print(a, brief)
		}
		if s.Folder != "" {
			a.Printf("folder %s\n", terminal.VisibleLine(s.Folder))
		}
		for _, c := range s.Commands {
			a.Printf("run %s\n", terminal.VisibleLine(c))
		}
		if s.Error != "" {
			a.Printf("  %s\n", terminal.Visible(s.Error))
		}
		for _, n := range s.Notes {
			a.Printf("  %s\n", terminal.VisibleLine(n))
		}
		s.notesShown = len(s.Notes)
	}
}

// addTrust has the agents' clients say which of the hooks they will run.
func (x *installation) addTrust(ctx context.Context, shown []*shownInstall) {
	for _, s := range shown {
		a := s.agent
		if a.Hooks.Trust == nil || s.State != installDone && s.State != installUnchanged {
			continue
		}
		if _, err := exec.LookPath(a.Programs[0]); err != nil {
			continue
		}
		trust, err := AskTrust(ctx, x.app, a)
		if err != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("which hooks %s trusts is not known: %v", a.Title, err))
			continue
		}
		s.Trust = trust
		if err := CheckTrust(a, trust); err != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("%v: %s", err, terminal.NextStep(err)))
		}
	}
}

// CheckTrust returns that an agent does not run all of its hooks, of which its client says all, with what mends it; nil where it does.
func CheckTrust(a install.Agent, all []install.Trust) error {
	if hooks := len(a.Hooks.Events); len(all) < hooks {
		return terminal.Advise(fmt.Errorf("%s knows %d of %s of cmemd", a.Title, len(all), number.Plural(hooks, "hook")), "%s", a.Hooks.Trust.Remedy)
	}
	refused := install.Refused(all)
	if len(refused) == 0 {
		return nil
	}
	return terminal.Advise(fmt.Errorf("%s does not run %d of %s of cmemd (%s) until you trust them",
		a.Title, len(refused), number.Plural(len(all), "hook"), strings.Join(refused, ", ")), "start `%s`, and look at /hooks", a.Programs[0])
}

// report says what came of it, and fails if something did not go well.
func (x *installation) report(shown []*shownInstall) error {
	if x.app.JSON {
		if err := x.app.PrintJSON(shown); err != nil {
			return err
		}
	}
	x.showResults(shown)
	return x.app.MarkReported(x.failure(shown))
}

// showResults says what came of each agent, as far as that was not shown.
func (x *installation) showResults(shown []*shownInstall) {
	for _, s := range shown {
		switch s.State {
		case installFailed:
			x.app.Infof("%s: %s", s.Agent, terminal.Visible(s.Error))
		case installDone, installRemoved:
			x.app.Infof("%s: %s", s.Agent, s.State)
		}
		for _, n := range s.Notes[s.notesShown:] {
			x.app.Infof("%s: %s", s.Agent, terminal.VisibleLine(n))
		}
	}
}

// showLeftovers says what a removal from agents leaves: the daemon, what is remembered, and the programs.
func (x *installation) showLeftovers(ctx context.Context, shown []*shownInstall) {
	if !slices.ContainsFunc(shown, func(s *shownInstall) bool { return s.State == installRemoved }) {
		return
	}
	if status, err := x.app.Status(ctx); err == nil {
		x.app.Infof("the daemon still runs, pid %d: `cmemd stop` ends it", status.PID)
	}
	x.app.Infof("what is remembered stays in %s, until you remove that folder; `cmemd service uninstall` takes the service away, if one was installed", x.options.Home)
	self, err := os.Executable()
	if err != nil {
		return
	}
	if dir := filepath.Dir(programs.Stable(self)); !isSameFile(dir, programs.Dir(x.options.Home)) {
		x.app.Infof("the programs stay in %s: remove them as they were installed, `cmemd upgrade --dry-run` says how that was", terminal.VisibleLine(dir))
	}
}

// failure is the error of agents of which something did not go well; nil: there are none.
func (x *installation) failure(shown []*shownInstall) error {
	refused, failed := 0, 0
	for _, s := range shown {
		switch s.State {
		case installRefused:
			refused++
		case installFailed:
			failed++
		}
	}
	if refused+failed == 0 {
		return nil
	}
	next := "mend what is said of it, then the same command goes on"
	if failed > 0 && !x.flags.remove {
		next += "; or `cmemd uninstall AGENT` takes back what was begun"
	}
	return terminal.Advise(fmt.Errorf("%s not changed as asked", number.Plural(refused+failed, "agent")), "%s", next)
}
