package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/number"
)

// showPlan says on three lines what would change.
func (s *setupRun) showPlan(ctx context.Context) {
	daemon, starts := s.daemonLine(ctx)
	s.starts = starts
	if s.app.JSON {
		return
	}
	s.app.Printf("programs  %s\n", terminal.VisibleLine(s.programsLine()))
	s.app.Printf("agents    %s\n", terminal.VisibleLine(s.agentsLine()))
	s.app.Printf("daemon    %s\n", terminal.VisibleLine(daemon))
}

func (s *setupRun) programsLine() string {
	p := s.report.Programs
	switch {
	case p == nil:
		return "are used where they lie: " + strings.Join(s.options.Program.Hook, " ")
	case p.Newer != "":
		return fmt.Sprintf("stay as they are in %s: %s, and this is the older %s", p.To, p.Newer, s.app.Version)
	case len(p.Copy) == 0:
		return "lie in " + p.To + ", as they are here"
	}
	line := fmt.Sprintf("copies %s to %s: here (%s) they do not stay", strings.Join(p.Copy, ", "), p.To, p.Way)
	if p.Replaces != "" {
		line += fmt.Sprintf("; %s takes the place of %s", s.app.Version, p.Replaces)
	}
	return line
}

// agentsLine says which agents are changed, by how much, and which are not.
func (s *setupRun) agentsLine() string {
	by := map[string][]*shownInstall{}
	for _, one := range s.shown {
		by[one.State] = append(by[one.State], one)
	}
	var parts []string
	if all := by[installPlanned]; len(all) > 0 {
		parts = append(parts, fmt.Sprintf("puts hooks and memory as tools into %s (%s)", titles(all), sizeOfChange(all)))
	}
	if all := by[installUnchanged]; len(all) > 0 {
		parts = append(parts, "is in "+titles(all)+" already")
	}
	for _, one := range by[installRefused] {
		parts = append(parts, fmt.Sprintf("leaves %s alone: %s", one.Title, one.Error))
	}
	if len(parts) == 0 {
		return "none is on this machine that is known: `cmemd install --help`; any other may call `cmemd-hook raw`, or `cmemd mcp`"
	}
	return strings.Join(parts, "; ")
}

// sizeOfChange is how much of the agents' settings changes.
func sizeOfChange(all []*shownInstall) string {
	var parts []string
	files, plus, minus := 0, 0, 0
	for _, one := range all {
		for _, f := range one.Files {
			p, m := f.changedLines()
			files, plus, minus = files+1, plus+p, minus+m
		}
		if len(one.Commands) > 0 {
			parts = append(parts, "a plugin, by "+number.Plural(len(one.Commands), "command")+" of "+one.Title)
		}
	}
	if files > 0 {
		parts = append(parts, fmt.Sprintf("%s, +%d -%d lines", number.Plural(files, "file"), plus, minus))
	}
	return strings.Join(parts, "; ")
}

// daemonLine says what becomes of the daemon, and whether one is started.
func (s *setupRun) daemonLine(ctx context.Context) (line string, starts bool) {
	status, err := s.app.Status(ctx)
	if err != nil {
		return "starts it; all that it keeps is in " + s.options.Home, true
	}
	if d, err := homedir.ReadDaemonFile(s.paths().Daemon); err == nil && d.OlderThan(s.app.Version) {
		return fmt.Sprintf("stops %s and starts %s in its place; no session is lost", status.Version, s.app.Version), true
	}
	return "runs already: " + status.Version, false
}

// nothing reports whether programs, agents and daemon are as they are to be.
func (s *setupRun) nothing() bool {
	return !s.starts && !slices.ContainsFunc(s.shown, (*shownInstall).planned) && (s.report.Programs == nil || len(s.report.Programs.Copy) == 0)
}

// agree asks whether to change what was shown, and leaves out the agents that the person does not name.
func (s *setupRun) agree(ctx context.Context) (bool, error) {
	if s.flags.yes || s.app.JSON || !terminal.IsTerminal(s.app.In) {
		return s.app.Confirm(ctx, "Do this?", "changed", false, s.flags.yes)
	}
	if s.nothing() {
		return true, nil
	}
	question := "Do this? y: yes, n: no"
	if names := s.planned(); len(names) > 0 {
		question += ", d: show every line; or only for some agents: " + strings.Join(names, ",")
	}
	for {
		answer, err := s.app.Question(ctx, question)
		if err != nil {
			return false, fmt.Errorf("nothing was changed: %w", err)
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			s.app.Infof("nothing was changed")
			return false, nil
		case "d":
			printInstalls(s.app, s.shown, false)
			continue
		}
		if err := s.keepNamed(answer); err == nil {
			return true, nil
		} else {
			s.app.Infof("%s", terminal.VisibleLine(err.Error()))
		}
	}
}

// planned are the names of the agents that would change.
func (s *setupRun) planned() (names []string) {
	for _, one := range s.shown {
		if one.planned() {
			names = append(names, one.Agent)
		}
	}
	return names
}

// keepNamed keeps those of the agents that would change that are named.
func (s *setupRun) keepNamed(answer string) error {
	named := strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || r == ' ' })
	if len(named) == 0 {
		return fmt.Errorf("%q names nobody: y, n, or a name", answer)
	}
	for _, name := range named {
		if !slices.Contains(s.planned(), name) {
			return fmt.Errorf("%q is none of %s", name, strings.Join(append([]string{"y", "n"}, s.planned()...), ", "))
		}
	}
	s.agents = slices.DeleteFunc(s.agents, func(one install.Agent) bool { return !slices.Contains(named, one.Name) })
	return nil
}
