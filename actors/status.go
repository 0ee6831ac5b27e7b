package actors

import (
	"context"

	"github.com/cmemd/cmemd/actors/provider"
)

// Status is what the actors are doing.
type Status struct {
	Waiting int `json:"waiting"` // requests accepted and not yet committed
	Awake   int `json:"awake"`   // session actors
	provider.Status
}

// Status asks the dispatcher. Errors: ErrStopped, ctx.Err().
func (s *System) Status(ctx context.Context) (Status, error) {
	if !s.running.Load() {
		return Status{}, ErrStopped
	}
	ask := askStatus{reply: make(chan provider.Status, 1)}
	s.root.Send(s.dispatch, ask)
	select {
	case st := <-ask.reply:
		return Status{Waiting: int(s.waiting.Load()), Awake: int(s.live.Load()), Status: st}, nil
	case <-ctx.Done():
		return Status{}, ctx.Err()
	case <-s.done:
		return Status{}, ErrStopped
	}
}
