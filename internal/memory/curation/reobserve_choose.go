package curation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
)

// choose reads what the request chooses, the latest first, until it is all or as much as one request takes.
func (a *Reobserve) choose(ctx context.Context) error {
	for f := a.filter; ; {
		page, err := a.r.cfg.Views.Outcomes(ctx, f)
		if err != nil {
			return err
		}
		for _, in := range page {
			if err := a.take(ctx, in); err != nil {
				return err
			}
			if a.out.More {
				break
			}
		}
		if len(page) < f.Limit || a.out.More {
			break
		}
		f.Before = page[len(page)-1].Position
	}
	for _, inputs := range a.inputs {
		order.By(inputs, func(x, y api.Input) int { return cmp.Compare(x.Position, y.Position) })
	}
	a.out.Sessions = len(a.order)
	return nil
}

// take chooses an input and what must be chosen with it, if there is room for all of that. A turn that is larger than a
// whole request is taken where it comes first: else it could never be.
func (a *Reobserve) take(ctx context.Context, in api.Input) error {
	if a.taken[in.Position] {
		return nil
	}
	whole, err := a.whole(ctx, in)
	if err != nil {
		return err
	}
	n := 0
	for _, one := range whole {
		if a.takes(one) && !one.Reobserve {
			n++
		}
	}
	if n > 0 && a.out.Inputs > 0 && a.out.Inputs+n > a.Most {
		a.out.More = true
		return nil
	}
	for _, one := range whole {
		a.add(one)
	}
	return nil
}

// whole is an input, and where it was observed all that the turn settled and no other decided since.
func (a *Reobserve) whole(ctx context.Context, in api.Input) ([]api.Input, error) {
	whole := []api.Input{in}
	if in.Outcome != outcomes.Observed {
		return whole, nil
	}
	t, err := a.r.cfg.Views.Turn(ctx, in.Turn)
	if errors.Is(err, engine.ErrNotFound) {
		return whole, nil
	}
	if err != nil {
		return nil, err
	}
	settled, err := a.r.cfg.Views.OutcomesAt(ctx, t.Settles)
	for _, one := range settled {
		if one.Position != in.Position && (one.Turn == in.Turn || isBlank(one)) {
			whole = append(whole, one)
		}
	}
	return whole, err
}

// isBlank reports whether an input was last answered by nothing at all, which takes nothing of before away.
func isBlank(in api.Input) bool {
	return in.Outcome == outcomes.Skipped && in.Reason == events.ReasonEmpty
}

// takes reports whether an input that is chosen is new, and one that can be asked for.
func (a *Reobserve) takes(in api.Input) bool {
	return !a.taken[in.Position] && in.Outcome != outcomes.Pending && in.Outcome != outcomes.Forgotten
}

// add enters an input at its session, unless it is not to be asked for.
func (a *Reobserve) add(in api.Input) {
	if !a.takes(in) {
		return
	}
	a.taken[in.Position] = true
	if in.Reobserve {
		a.asked[in.Session] = struct{}{}
		a.out.Asked++
		return
	}
	if a.inputs[in.Session] == nil {
		a.order = append(a.order, in.Session)
	}
	a.inputs[in.Session] = append(a.inputs[in.Session], in)
	a.out.Inputs++
}

// price says how many turns, bytes and tokens the choice takes.
func (a *Reobserve) price(ctx context.Context) error {
	for _, id := range a.order {
		turns, bytes, err := a.priceSession(ctx, id)
		if err != nil {
			return err
		}
		a.out.Turns += turns
		a.out.Bytes += bytes
	}
	return a.estimate(ctx)
}

// priceSession counts turns as the session will make them: each stop is a summary's; between two stops observation turns
// take as many inputs and bytes as the provider takes at once.
func (a *Reobserve) priceSession(ctx context.Context, id events.SessionID) (turns int, bytes int64, err error) {
	inputs := a.inputs[id]
	stops, err := a.stops(ctx, id, inputs[0].Position)
	if err != nil {
		return 0, 0, err
	}
	var n, size int // of the batch under way
	for _, in := range inputs {
		r, err := a.r.cfg.Log.Get(ctx, in.Position)
		if errors.Is(err, eventlog.ErrNotFound) || errors.Is(err, events.ErrCorrupt) {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		bytes += int64(r.Size)
		for len(stops) > 0 && stops[0] < in.Position {
			stops, n = stops[1:], 0
		}
		if in.Kind == events.KindAgentStopped {
			turns++
			continue
		}
		limits := a.provider.BatchLimits
		if n == 0 || reached(n, limits.MaxInputs) || reached(size+int(r.Size)-1, limits.MaxBytes) {
			turns, n, size = turns+1, 0, 0
		}
		n, size = n+1, size+int(r.Size)
	}
	return turns, bytes, nil
}

func reached(n, limit int) bool { return limit > 0 && n >= limit }

// stops returns the positions of a session's stops from a position on, ascending.
func (a *Reobserve) stops(ctx context.Context, id events.SessionID, from events.Position) ([]events.Position, error) {
	var stops []events.Position
	f := outcomes.Filter{Session: id, Kind: events.KindAgentStopped, Limit: selectPage}
	for {
		page, err := a.r.cfg.Views.Outcomes(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, in := range page {
			if in.Position < from {
				page = nil
				break
			}
			stops = append(stops, in.Position)
		}
		if len(page) < f.Limit {
			slices.Reverse(stops)
			return stops, nil
		}
		f.Before = page[len(page)-1].Position
	}
}

const (
	// sampleTurns is how many turns on record an estimate goes by, and maxSampleScan among how many of the latest they are looked
	// for.
	sampleTurns   = 200
	maxSampleScan = 5000

	// bytesPerToken is the usual estimate where nothing is on record.
	bytesPerToken = 4
)

// estimate sets the tokens: by what the latest turns of the provider and its model used for each byte of their prompts.
func (a *Reobserve) estimate(ctx context.Context) error {
	if a.provider.Free {
		a.out.Estimate = a.provider.Name + " works here: nothing is sent, and no tokens are used"
		return nil
	}
	turns, err := a.r.cfg.Views.LatestTurns(ctx, sampleTurns, maxSampleScan, func(t api.Turn) bool {
		return t.Provider == a.provider.Name && t.Model == a.provider.Model && t.PromptBytes > 0 && t.Usage.Input > 0
	})
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		a.out.Tokens = (a.out.Bytes + bytesPerToken - 1) / bytesPerToken
		a.out.USD, _ = a.r.cfg.Price.Of(a.provider.Name, a.provider.Model, a.provider.Model, events.Usage{Input: a.out.Tokens})
		a.out.Estimate = "a quarter of the bytes: no turn on record says what it used; what is answered comes on top"
		return nil
	}
	var tokens, bytes, stated float64
	var unstated events.Usage
	for _, t := range turns {
		tokens += float64(t.Usage.Input + t.Usage.Output)
		bytes += float64(t.PromptBytes)
		bill := t.Bill()
		more := bill.UncostedUsage()
		stated += bill.Cost
		unstated.Input, unstated.Cached, unstated.Output = unstated.Input+more.Input, unstated.Cached+more.Cached, unstated.Output+more.Output
	}
	a.out.Tokens = int64(float64(a.out.Bytes)*tokens/bytes + 0.5)
	listed, known := a.r.cfg.Price.Of(a.provider.Name, a.provider.Model, a.provider.Model, unstated)
	if known || unstated == (events.Usage{}) {
		a.out.USD = float64(a.out.Bytes) * (stated + listed) / bytes
	}
	a.out.Estimate = fmt.Sprintf("by what the latest %d turns of the same provider and model used, answers included", len(turns))
	return nil
}
