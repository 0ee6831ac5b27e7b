package sharing

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/sleep"
)

// Forget has the other machines forget records too, and the store. It returns once that is on disk; without others it does nothing.
func (s *Sharing) Forget(ctx context.Context, at []events.Place) error {
	j, err := s.now()
	if errors.Is(err, ErrNotJoined) || len(at) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = j.share.Forget(ctx, at...)
	return err
}

const (
	confirmWait = 4 * time.Second        // machines that are on confirm within it
	confirmLook = 100 * time.Millisecond // whether all have
)

// Elsewhere says who has confirmed what was asked to be forgotten since a time; nil where nothing was, or there are no others. It waits
// for those that are on.
func (s *Sharing) Elsewhere(ctx context.Context, since time.Time) *api.Elsewhere {
	j, err := s.now()
	switch {
	case errors.Is(err, ErrNotJoined):
		return nil
	case err != nil: // others are notified once it can run
		return &api.Elsewhere{}
	}
	limited, cancel := context.WithTimeout(ctx, confirmWait)
	defer cancel()
	for {
		st, err := j.share.Status(ctx)
		if err != nil {
			return nil
		}
		out := confirmations(st, since)
		if out.Store && len(out.Waiting) == 0 {
			return out
		}
		if sleep.For(limited, confirmLook) != nil {
			return out
		}
	}
}

// confirmations reads who has confirmed out of a status.
func confirmations(st share.Status, since time.Time) *api.Elsewhere {
	out := api.Elsewhere{Store: true}
	var waiting []string
	for _, f := range st.Forgets {
		if f.At.Before(since) {
			continue
		}
		out.Store = out.Store && f.Store
		waiting = append(waiting, f.Waiting...)
	}
	for _, m := range st.Machines {
		switch {
		case m.Self || !m.Gone.IsZero():
		case slices.Contains(waiting, m.Name):
			out.Waiting = append(out.Waiting, api.ClusterWaiting{Name: m.Name, Seen: m.Seen})
		default:
			out.Gone = append(out.Gone, m.Name)
		}
	}
	return &out
}
