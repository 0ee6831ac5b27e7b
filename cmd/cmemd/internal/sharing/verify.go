package sharing

import (
	"context"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// Verify reads again all that the store holds, and the copies here. Errors are refusals in words, and ctx.Err().
func (s *Sharing) Verify(ctx context.Context, progress func(done, total uint64)) (out api.ClusterVerified, err error) {
	j, err := s.now()
	if err != nil {
		return out, asRefusal(ctx, "Nothing was checked", err)
	}
	if out.Logs, err = j.share.Verify(ctx, progress); err != nil {
		return out, asRefusal(ctx, "Not all was checked", err)
	}
	out.OK = true
	for i := range out.Logs {
		v := &out.Logs[i]
		if v.Problem == "" && !v.Own {
			v.Problem = s.checkCopy(ctx, j.share.LocalLog(v.Log))
		}
		v.Problem = terminal.Visible(v.Problem)
		out.OK = out.OK && v.Problem == ""
	}
	st, err := j.share.Status(ctx)
	if err != nil {
		return out, err
	}
	for _, m := range st.Machines {
		if m.Differs {
			out.Problems = append(out.Problems, fmt.Sprintf("%s knows another list of machines", terminal.VisibleLine(m.Name)))
		}
	}
	if st.Own.Forked > 0 {
		out.Problems = append(out.Problems, fmt.Sprintf("another home writes this home's log too, from record %d on", st.Own.Forked))
	}
	out.OK = out.OK && len(out.Problems) == 0
	return out, ctx.Err()
}

// checkCopy says what is wrong with the copy of a log here; empty: nothing.
func (s *Sharing) checkCopy(ctx context.Context, log events.LogID) string {
	err := s.cfg.Check(ctx, log, func(uint64, uint64) {})
	if err == nil || errors.Is(err, eventlog.ErrClosed) || ctx.Err() != nil {
		return ""
	}
	return "the copy here: " + terminal.Describe(err)
}
