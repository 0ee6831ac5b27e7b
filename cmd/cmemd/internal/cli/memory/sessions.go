package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

func newSessions(a *terminal.App) *cobra.Command {
	var q api.SessionsQuery
	c := &cobra.Command{
		Use: "sessions [ID]", Short: "List the sessions, or show one with all that is remembered of it",
		Long: "Sessions lists the sessions, the latest first. ID is that of one, ours or the agent's; 8 digits or more of the beginning of\nours are enough.",
		Args: terminal.Takes(0, 1, "one id of a session"),
	}
	terminal.QueryFlags(a, c, &q)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return terminal.Answer(c.Context(), a, api.SessionRoute, api.IDQuery{ID: args[0]}, showDetail)
		}
		return terminal.Answer(c.Context(), a, api.SessionsRoute, q, showSessions)
	}
	c.AddCommand(newSessionsRelease(a))
	return c
}

const releaseHelp = `Release ends the quarantine of a session before its time: its observer is started again, and asked about what was captured
meanwhile. If it crashes again as often as before, it is stopped again.`

func newSessionsRelease(a *terminal.App) *cobra.Command {
	return terminal.Asking(a, &cobra.Command{
		Use: "release ID", Short: "End the quarantine of a session's observer now", Long: releaseHelp,
		Args:    terminal.Takes(1, 1, "one id of a session"),
		Example: "  cmemd sessions release 4f1c22a0",
	}, api.ReleaseRoute, nil, func(a *terminal.App, r api.Released) error {
		a.Printf("the observer of session %s may be asked again\n", a.ShownSession(r.Session))
		return nil
	})
}

func showSessions(a *terminal.App, found api.Sessions) error {
	if len(found.Sessions) == 0 {
		return fmt.Errorf("%w: no sessions%s", terminal.ErrNothing, hiddenWords(found.Hidden))
	}
	l := terminal.List{Head: []string{"SESSION", "AGENT", "PROJECT", "LAST", "STATE", "TOOLS", "MEMORY", "PENDING", "TITLE"}}
	for _, s := range found.Sessions {
		l.Add(a.ShownSession(s.ID), whoseOf(s), s.Project, terminal.Moment(s.LastAt), stateOf(s), strconv.Itoa(s.ToolUses),
			strconv.Itoa(s.Observations+s.Summaries), strconv.Itoa(s.Pending), s.Title)
	}
	a.Print(l)
	if found.Hidden > 0 {
		a.Printf("\n%s\n", strings.TrimPrefix(hiddenWords(found.Hidden), "; "))
	}
	return nil
}

// hiddenWords says how many sessions ignore files hid; nothing for none.
func hiddenWords(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s hidden by ignore files in the last week: `cmemd ignore list`", number.Plural(n, "session"))
}

// whoseOf is a session's agent, with the machine where it is another one.
func whoseOf(s api.Session) string {
	if s.Machine == "" {
		return s.Agent
	}
	return strings.TrimSpace(s.Agent + " on " + s.Machine)
}

func stateOf(s api.Session) string {
	switch {
	case s.Quarantined != nil:
		return "quarantined"
	case s.Open():
		return "open"
	}
	return "closed"
}

func showDetail(a *terminal.App, found api.SessionDetail) error {
	showSession(a, found.Session)
	if len(found.Rows) == 0 {
		return nil
	}
	a.Printf("\n")
	l := terminal.List{Head: []string{"ID", "WHAT", "WHEN", "TITLE"}}
	for _, r := range found.Rows {
		l.Add(a.ShownRow(r.ID, r.Handle()), r.What(), terminal.Moment(r.At), flagged(titleOf(r), r.Flagged, r.IsUndone()))
	}
	a.Print(l)
	return nil
}

func showSession(a *terminal.App, s api.Session) {
	a.Heading("%s", terminal.VisibleLine(s.ID.String()))
	a.Field("title", s.Title)
	a.Field("agent", strings.TrimSpace(s.Agent+" "+s.AgentSession))
	a.Field("machine", s.Machine)
	for _, p := range s.Parts {
		a.Field("part", fmt.Sprintf("on %s, last %s", cmp.Or(p.Machine, "this machine"), terminal.Moment(p.LastAt)))
	}
	a.Field("project", s.Project)
	a.Field("folder", s.Cwd)
	a.Field("git", strings.TrimSpace(s.GitBranch+" "+s.GitHead))
	a.Field("opened", terminal.Moment(s.OpenedAt))
	a.Field("last", terminal.Moment(s.LastAt))
	a.Field("closed", strings.TrimSpace(terminal.Moment(s.ClosedAt)+" "+s.CloseCause))
	a.Field("captured", fmt.Sprintf("%s, %s, %s", number.Plural(s.Prompts, "prompt"), number.Plural(s.ToolUses, "tool use"), number.Plural(s.Stops, "stop")))
	a.Field("remembered", fmt.Sprintf("%s, %s in %s", number.Plural(s.Observations, "observation"), number.Plural(s.Summaries, "summary"), number.Plural(s.Turns, "turn")))
	a.Field("inputs", terminal.BalanceLine(s.Inputs))
	if r := s.LastRespawn; r != nil {
		var causes []string
		for _, cause := range slices.Sorted(maps.Keys(s.Respawns)) {
			causes = append(causes, fmt.Sprintf("%d %s", s.Respawns[cause], cause))
		}
		a.Field("respawned", strings.Join(causes, ", "))
		a.Field("last respawn", terminal.RespawnLine(*r))
	}
	if q := s.Quarantined; q != nil {
		a.Field("quarantined", fmt.Sprintf("until %s: %s", terminal.Moment(q.Until), q.Cause))
	}
}
