package server

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/events"
)

// asOf is the position that as_of means: the one it names, or the last that had been recorded at the time it names; 0 is now.
// Known is false if nothing had been recorded by then.
func (s *Server) asOf(ctx context.Context, at events.Position, when time.Time) (p events.Position, known bool, err error) {
	if when.IsZero() {
		return at, true, nil
	}
	p, err = s.cfg.Recall.PositionAt(ctx, when)
	return p, p > 0, err
}
