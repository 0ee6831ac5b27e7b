package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
)

const (
	// answerPoll is how often it is looked how far the answers are.
	answerPoll = 100 * time.Millisecond

	// maxStuck is how many sessions are named that keep their answers waiting.
	maxStuck = 5
)

// await tells how far the answers are until all have come, or until something holds up the rest for longer than anybody
// would wait. What was asked before in the same sessions is answered in the same turns and waited for too.
func (a *reobserve) await(ctx context.Context, tell func(done, total uint64)) error {
	if err := a.s.cfg.Views.Wait(ctx, a.out.Position); err != nil {
		return err
	}
	sessions := slices.Clone(a.order)
	for id := range maps.Keys(a.asked) {
		if a.shares[id] == nil {
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
		tell(uint64(total-waiting), uint64(total))
		if a.out.Stopped, err = a.stuck(ctx, left); err != nil {
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
func (a *reobserve) waiting(ctx context.Context, sessions []events.SessionID) (left []events.SessionID, inputs int, err error) {
	for _, id := range sessions {
		b, err := a.s.cfg.Views.BalanceOf(ctx, id)
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

// stuck says what holds up all of the sessions; nothing where one of them can go on.
func (a *reobserve) stuck(ctx context.Context, sessions []events.SessionID) ([]string, error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	st, err := a.s.cfg.System.Status(ctx)
	if err != nil {
		return nil, err
	}
	now := a.s.cfg.Now()
	if st.Degraded {
		return []string{"the daemon only captures, until a probe is answered"}, nil
	}
	if p := st.Providers[a.provider.Name]; p.Paused && p.Until.After(now) {
		return []string{fmt.Sprintf("%s is paused (%s) until %s", a.provider.Name, p.Class, p.Until.UTC().Format(time.RFC3339))}, nil
	}
	var why []string
	for _, id := range sessions {
		one, err := a.s.cfg.Views.Session(ctx, id)
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

// count says what became of the inputs that were asked for.
func (a *reobserve) count(ctx context.Context) error {
	a.out.Answers = &Answers{}
	for _, id := range a.order {
		was := map[events.Position]events.ID{}
		var at []events.Position
		for _, in := range a.shares[id].inputs {
			was[in.Position] = in.Turn
			at = append(at, in.Position)
		}
		now, err := a.s.cfg.Views.OutcomesAt(ctx, at)
		if err != nil {
			return err
		}
		for _, in := range now {
			a.out.Answers.add(was[in.Position], in)
		}
	}
	return nil
}

// add counts an input that a turn had decided before it was asked about again.
func (n *Answers) add(was events.ID, now Input) {
	switch {
	case now.Reobserve:
		n.Waiting++
	case now.Outcome == projections.Observed && now.Turn != was:
		n.Observed++
	case isBlank(now) && now.Turn != was:
		n.Blank++
	case now.Outcome == projections.Skipped && now.Turn != was:
		n.Skipped++
	case now.Outcome != projections.Forgotten:
		n.Dropped++
	}
}
