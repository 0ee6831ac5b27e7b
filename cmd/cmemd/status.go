package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
)

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say whether the daemon runs and how it is doing; exit code 3 if it does not", Args: takes(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			err := a.query(c.Context(), func(ctx context.Context, client *api.Client) error {
				s, err := client.Status(ctx)
				switch {
				case err != nil:
					return err
				case a.JSON:
					return a.printJSON(runningStatus{Running: true, Status: s})
				}
				showStatus(a, s)
				return nil
			})
			if !errors.Is(err, api.ErrNotRunning) {
				return err
			}
			if failed := showStopped(a); failed != nil {
				return errors.Join(err, failed)
			}
			return a.Reported(err)
		},
	}
}

// runningStatus is a status that says of itself that there is one.
type runningStatus struct {
	Running bool `json:"running"`
	api.Status
}

// A stoppedStatus is what can be told of a home without a daemon.
type stoppedStatus struct {
	Running bool            `json:"running"`
	Home    string          `json:"home"`
	Spool   api.SpoolStatus `json:"spool"`
}

func showStopped(a *app) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	s := stoppedStatus{Home: home}
	if s.Spool.Waiting, s.Spool.Bytes, err = relay.NewSpool(home).Usage(); err != nil {
		return err
	}
	u, err := relay.ReadUnanswered(home)
	if err != nil {
		return err
	}
	s.Spool.Unanswered, s.Spool.Lost, s.Spool.LostReason = u.Count, u.Lost, u.LostReason
	if a.JSON {
		return a.printJSON(s)
	}
	a.field("home", s.Home)
	a.field("spool", spoolLine(s.Spool))
	return nil
}

func spoolLine(s api.SpoolStatus) string {
	line := fmt.Sprintf("%s waiting (%s)", plural(s.Waiting, "payload"), size(s.Bytes))
	if s.Bad > 0 {
		line += fmt.Sprintf(", %d set aside", s.Bad)
	}
	if s.Unanswered > 0 {
		line += ", " + plural(s.Unanswered, "hook") + " in a row without an answer"
	}
	if s.Lost > 0 {
		line += fmt.Sprintf(", %d lost: %s", s.Lost, s.LostReason)
	}
	return line
}

func showStatus(a *app, s api.Status) {
	a.heading("cmemd %s is %s", visibleLine(s.Version), visibleLine(phaseWord(s)))
	a.field("pid", fmt.Sprintf("%d, since %s", s.PID, moment(s.Started)))
	a.field("home", s.Home)
	a.field("log", fmt.Sprintf("position %d", s.Position))
	a.field("views", viewsLine(s.Views))
	if s.Vectors != nil {
		a.field("vectors", vectorsLine(s.Vectors))
	}
	a.field("inputs", balanceLine(s.Inputs))
	for _, r := range s.Inputs.Reasons {
		a.field("", fmt.Sprintf("%d %s %s", r.Count, r.Outcome, strings.Trim(r.Class+"/"+r.Reason, "/")))
	}
	if s.Inputs.Dropped > 0 {
		a.field("", "what is dropped is kept: `cmemd reobserve --dropped --dry-run` says what asking again would take")
	}
	showProviders(a, s)
	showHealth(a, s, a.now())
	a.field("today", todayLine(s.Today))
	a.field("actors", fmt.Sprintf("%d awake, %d of %d slots in use, %d queued, %d waiting for the disk",
		s.Actors.Awake, s.Actors.Turns, s.Actors.Slots, s.Actors.Queued, s.Actors.Waiting))
	a.field("spool", spoolLine(s.Spool))
	showErasure(a, s.Erasure)
	showFindings(a, s)
}

func phaseWord(s api.Status) string {
	if s.Ready {
		return "running"
	}
	return "starting (" + s.Phase + ")"
}

// viewsLine says how far behind the views are, the furthest behind first.
func viewsLine(views []api.ViewLag) string {
	views = slices.Clone(views)
	slices.SortStableFunc(views, func(a, b api.ViewLag) int { return int(min(b.Lag, 1<<31)) - int(min(a.Lag, 1<<31)) })
	var parts []string
	for _, v := range views {
		if v.Lag > 0 {
			parts = append(parts, fmt.Sprintf("%s is %s behind", v.Name, plural(v.Lag, "record")))
		}
	}
	if len(parts) == 0 {
		return "up to date"
	}
	return strings.Join(parts, ", ")
}
