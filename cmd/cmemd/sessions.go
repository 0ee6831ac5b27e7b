package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/internal/api"
)

func newSessions(a *app) *cobra.Command {
	var q api.SessionsQuery
	c := &cobra.Command{
		Use: "sessions [ID]", Short: "List the sessions, or show one with all that is remembered of it",
		Long: "Sessions lists the sessions, the latest first. ID is that of one, ours or the agent's; 8 digits or more of the beginning of\nours are enough.",
		Args: takes(0, 1, "one id of a session"),
	}
	projectFlag(c, &q.Project, "", "")
	c.Flags().StringVar(&q.Agent, "agent", "", "whose sessions")
	c.Flags().BoolVar(&q.OpenOnly, "open", false, "only those that have not ended")
	c.Flags().IntVarP(&q.Limit, "limit", "n", 50, "how many, at most 1,000")
	since := addWhen(c, "since", "with something that happened since")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if err := needsPositive(c, "limit", q.Limit); err != nil {
			return err
		}
		if q.Since, err = since.at(c, a.now()); err != nil {
			return err
		}
		return a.query(c.Context(), func(ctx context.Context, client *api.Client) error {
			if len(args) == 1 {
				return oneSession(ctx, a, client, args[0])
			}
			found, err := client.Sessions(ctx, q)
			if err != nil {
				return err
			}
			return showSessions(a, found)
		})
	}
	return c
}

func showSessions(a *app, found api.Sessions) error {
	if a.JSON {
		if err := a.printJSON(found); err != nil {
			return err
		}
	}
	if len(found.Sessions) == 0 {
		return a.Reported(fmt.Errorf("%w: no sessions", errNothing))
	}
	if a.JSON {
		return nil
	}
	l := list{head: []string{"SESSION", "AGENT", "PROJECT", "LAST", "STATE", "TOOLS", "MEMORY", "PENDING", "TITLE"}}
	for _, s := range found.Sessions {
		l.add(a.shownSession(s.ID), s.Agent, s.Project, moment(s.LastAt), stateOf(s), strconv.Itoa(s.ToolUses),
			strconv.Itoa(s.Observations+s.Summaries), strconv.Itoa(s.Pending), s.Title)
	}
	return a.print(l)
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

func oneSession(ctx context.Context, a *app, client *api.Client, id string) error {
	found, err := client.Session(ctx, id)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.printJSON(found)
	}
	showSession(a, found.Session)
	if len(found.Rows) == 0 {
		return nil
	}
	a.printf("\n")
	l := list{head: []string{"ID", "WHAT", "WHEN", "TITLE"}}
	for _, r := range found.Rows {
		l.add(a.shownID(r.ID), r.What(), moment(r.At), flagged(titleOf(r), r.Flagged))
	}
	return a.print(l)
}

func showSession(a *app, s api.Session) {
	a.heading("%s", visibleLine(s.ID.String()))
	a.field("title", s.Title)
	a.field("agent", strings.TrimSpace(s.Agent+" "+s.AgentSession))
	a.field("project", s.Project)
	a.field("folder", s.Cwd)
	a.field("git", strings.TrimSpace(s.GitBranch+" "+s.GitHead))
	a.field("opened", moment(s.OpenedAt))
	a.field("last", moment(s.LastAt))
	a.field("closed", strings.TrimSpace(moment(s.ClosedAt)+" "+s.CloseCause))
	a.field("captured", fmt.Sprintf("%s, %s, %s", plural(s.Prompts, "prompt"), plural(s.ToolUses, "tool use"), plural(s.Stops, "stop")))
	a.field("remembered", fmt.Sprintf("%s, %s in %s", plural(s.Observations, "observation"), summaries(s.Summaries), plural(s.Turns, "turn")))
	a.field("inputs", balanceLine(s.Inputs))
	if r := s.LastRespawn; r != nil {
		var causes []string
		for _, cause := range slices.Sorted(maps.Keys(s.Respawns)) {
			causes = append(causes, fmt.Sprintf("%d %s", s.Respawns[cause], cause))
		}
		a.field("respawned", strings.Join(causes, ", "))
		a.field("last respawn", respawnLine(*r))
	}
	if q := s.Quarantined; q != nil {
		a.field("quarantined", fmt.Sprintf("until %s: %s", moment(q.Until), q.Cause))
	}
}

func summaries(n int) string {
	if n == 1 {
		return "1 summary"
	}
	return fmt.Sprintf("%d summaries", n)
}
