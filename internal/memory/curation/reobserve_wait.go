package curation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/outcomes"
)

const (
	// answerPoll is how often it is looked how far the answers are.
	answerPoll = 100 * time.Millisecond

	// maxStuck is how many sessions are named that keep their answers waiting.
	maxStuck = 5
)

// await tells how far the answers are until all have come, or until something holds up the rest for longer than anybody
// would wait. What was asked before in the same sessions is answered in the same turns and waited for too.
func (a *Reobserve) await(ctx context.Context, progress func(done, total uint64)) error {
	if err := a.r.cfg.Views.Wait(ctx, a.out.Position); err != nil {
		return err
	}
	sessions := slices.Clone(a.order)
	for id := range a.asked {
		if a.inputs[id] == nil {
			sessions = append(sessions, id)
		}
	}
	total, tick := 0, time.NewTicker(answerPoll)
	defer tick.Stop()
	for {
		left, waiting, err := a.waiting(ctx, sessions)
		if err != nil {
			return err
		}
		total = max(total, waiting)
		progress(uint64(total-waiting), uint64(total))
		if a.out.Stopped, err = a.r.HeldUp(ctx, a.req.Provider, left); err != nil {
			return err
		}
		if waiting == 0 || len(a.out.Stopped) > 0 {
			return a.count(ctx)
		}
		sessions = left
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waiting returns those of the sessions in which something is asked for and not answered, and how much that is.
func (a *Reobserve) waiting(ctx context.Context, sessions []events.SessionID) (left []events.SessionID, inputs int, err error) {
	for _, id := range sessions {
		b, err := a.r.cfg.Views.BalanceOf(ctx, id)
		if err != nil {
			return nil, 0, err
		}
		if b.Reobserve > 0 {
			left = append(left, id)
			inputs += b.Reobserve
		}
	}
	return left, inputs, nil
}

// HeldUp says what keeps all of the sessions from an answer by the provider of that name, or by any if it is empty; nothing where
// one of them can go on.
func (r *Reobserver) HeldUp(ctx context.Context, named string, sessions []events.SessionID) ([]string, error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	st, err := r.cfg.System.Status(ctx)
	if err != nil {
		return nil, err
	}
	now := r.cfg.Now()
	if st.Degraded {
		return []string{"the daemon only captures, until a probe is answered"}, nil
	}
	if why := unavailable(r.cfg.Providers, named, st.Status, len(sessions), now); why != "" {
		return []string{why}, nil
	}
	var why []string
	for _, id := range sessions {
		one, err := r.cfg.Views.Session(ctx, id)
		if err != nil {
			return nil, err
		}
		if one.Quarantined == nil || !one.Quarantined.Until.After(now) {
			return nil, nil
		}
		if len(why) < maxStuck {
			why = append(why, fmt.Sprintf("session %s is quarantined (%s) until %s", id, one.Quarantined.Cause,
				one.Quarantined.Until.UTC().Format(time.RFC3339)))
		}
	}
	if more := len(sessions) - maxStuck; more > 0 {
		why = append(why, fmt.Sprintf("and %d sessions more", more))
	}
	return why, nil
}

// unavailable says why no provider may be asked for any of so many sessions; empty where one may be. A provider that was named
// has none to stand in for it.
func unavailable(all []api.Provider, named string, st provider.Status, sessions int, now time.Time) string {
	if b := st.Budget; b != nil && b.Held >= sessions && b.Held == st.Queued && st.Turns == 0 {
		return strings.TrimSpace(b.Limit + " is used up " + untilWhen(b.Until))
	}
	why := ""
	for _, p := range all {
		state, until := st.AvailabilityOf(p.Name, p.Free, now)
		switch {
		case named != "" && p.Name != named, named == "" && p.TierOnly:
		case state == provider.Resting && until.After(now):
			why = cmp.Or(why, fmt.Sprintf("%s is paused (%s) %s", p.Name, st.Providers[p.Name].Class, untilWhen(until)))
		case state == provider.OverBudget:
			why = cmp.Or(why, "the budget of the day is used up "+untilWhen(until))
		default:
			return ""
		}
	}
	return why
}

// untilWhen is the end of something that lasts; it has none that is known where that is zero.
func untilWhen(at time.Time) string {
	if at.IsZero() {
		return "until it is raised"
	}
	return "until " + at.UTC().Format(time.RFC3339)
}

// count says what became of the inputs that were asked for.
func (a *Reobserve) count(ctx context.Context) error {
	a.out.Answers = &api.Answers{}
	for _, id := range a.order {
		was := map[events.Position]events.ID{}
		var at []events.Position
		for _, in := range a.inputs[id] {
			was[in.Position] = in.Turn
			at = append(at, in.Position)
		}
		now, err := a.r.cfg.Views.OutcomesAt(ctx, at)
		if err != nil {
			return err
		}
		for _, in := range now {
			addAnswer(a.out.Answers, was[in.Position], in)
		}
	}
	return nil
}

// addAnswer counts an input that a turn had decided before it was asked about again.
func addAnswer(n *api.Answers, was events.ID, now api.Input) {
	switch {
	case now.Reobserve:
		n.Waiting++
	case now.Outcome == outcomes.Observed && now.Turn != was:
		n.Observed++
	case isBlank(now) && now.Turn != was:
		n.Blank++
	case now.Outcome == outcomes.Skipped && now.Turn != was:
		n.Skipped++
	case now.Outcome != outcomes.Forgotten:
		n.Dropped++
	}
}
