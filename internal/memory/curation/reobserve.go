package curation

import (
	"context"
	"errors"
	"slices"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/internal/transient"
)

// reobserveBatch is how many inputs one ReobserveRequested names: some 9 kB in the log.
const reobserveBatch = 1000

// Run chooses, says what it takes, and asks unless that is only planned. If the request waits, it returns when all is answered.
func (a *Reobserve) Run(ctx context.Context, progress func(done, total uint64)) (api.Reobserved, error) {
	err := a.request(ctx)
	if err == nil && !a.req.AtOnce() {
		err = a.await(ctx, progress)
	}
	return a.out, err
}

func (a *Reobserve) request(ctx context.Context) error {
	if err := a.r.lock.Acquire(ctx, 1); err != nil {
		return err
	}
	defer a.r.lock.Release(1)
	if err := a.r.cfg.CaughtUp(ctx); err != nil {
		return err
	}
	if err := a.choose(ctx); err != nil {
		return err
	}
	if err := a.price(ctx); err != nil || a.req.DryRun {
		return err
	}
	// Whoever asked may go: what is begun is asked for whole.
	return a.ask(context.WithoutCancel(ctx))
}

// ask records the requests, session by session. A session that takes none is named, and does not keep the others back.
func (a *Reobserve) ask(ctx context.Context) error {
	for _, id := range slices.Clone(a.order) {
		err := a.askSession(ctx, id)
		if err == nil {
			continue
		}
		if refusal.Of(err) == nil || transient.Is(err) { // no session takes it
			return err
		}
		a.out.Refused = append(a.out.Refused, api.RefusedSession{Session: id, Detail: refusal.Reason(err)})
		a.out.Inputs -= len(a.inputs[id])
		a.out.Sessions--
		delete(a.inputs, id)
		a.order = slices.DeleteFunc(a.order, func(other events.SessionID) bool { return other == id })
	}
	return nil
}

func (a *Reobserve) askSession(ctx context.Context, id events.SessionID) error {
	for part := range slices.Chunk(a.inputs[id], reobserveBatch) {
		cmd := session.Reobserve{ID: a.r.cfg.NewID(), At: a.r.cfg.Now(), Provider: a.req.Provider}
		seen := map[events.ID]bool{}
		for _, in := range part {
			cmd.Inputs = append(cmd.Inputs, in.Position)
			if in.Turn != (events.ID{}) && !seen[in.Turn] {
				seen[in.Turn] = true
				cmd.Turns = append(cmd.Turns, in.Turn)
			}
		}
		receipt, err := actors.DoWhenRoom(ctx, a.r.cfg.System, id, cmd)
		if err != nil && !errors.Is(err, session.ErrNoInputs) { // forgotten since
			return err
		}
		a.out.Position = max(a.out.Position, receipt.Position)
	}
	return nil
}
