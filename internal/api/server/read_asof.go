package server

import (
	"context"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// asOf is the position that as_of means: the one it names, or the last that had been recorded at the time it names; 0 is now.
// Known is false if nothing had been recorded by then.
func (s *Server) asOf(ctx context.Context, m api.Moment) (p events.Position, known bool, err error) {
	if m.Position != 0 || m.Time.IsZero() {
		return m.Position, true, nil
	}
	p, err = s.cfg.Recall.PositionAt(ctx, m.Time)
	return p, p > 0, err
}
