package sharing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/sleep"
)

// Status says how all machines are, as far as this one knows. It asks the store nothing, but waits for settleWait at most behind the start
// until the store was read.
func (s *Sharing) Status(ctx context.Context) (out api.Cluster, err error) {
	s.mu.Lock()
	j, why := s.joined, s.why
	s.mu.Unlock()
	out.Joined = j != nil || why != nil
	if why != nil {
		out.Problem = terminal.Describe(why)
	}
	if j == nil {
		return out, nil
	}
	waitAtMost(ctx, j.share.Ready(), time.Until(j.opened.Add(settleWait)))
	st, err := j.share.Status(ctx)
	for i, problem := range st.Problems {
		st.Problems[i] = terminal.Visible(problem)
	}
	select {
	case <-j.share.Ready():
	default:
		st.Problems = append(st.Problems, unsettled)
	}
	out.Where, out.Status = j.address.shown(), (*api.ClusterStatus)(&st)
	return out, err
}

// unsettled is said until the store has said what was forgotten elsewhere.
const unsettled = "forgetting: the store was not read since this machine is on, so what others had forgotten meanwhile may still be shown here"

// revoked reports whether this machine was taken out, as far as it knows.
func (j *joined) revoked() bool {
	self, ok := j.space.Manifest().Machine(j.space.Self())
	return ok && self.Revoked
}

// awayFor is how old what is recorded here may be without being in the store before a person is warned: a store that is switched off for a
// night is as it should be.
const awayFor = 3 * 24 * time.Hour

// Wrong says what keeps this home's memory from being shared, in words and with what to do; nothing where all is well, or it
// shares with none. What may pass by itself is not said. It asks the store nothing.
func (s *Sharing) Wrong(ctx context.Context) []string {
	j, err := s.now()
	switch {
	case errors.Is(err, ErrNotJoined), errors.Is(err, errNotRunning):
		return nil
	case err != nil:
		return []string{"nothing is shared with other machines: " + terminal.Describe(err)}
	case j.revoked():
		return []string{errRevoked.Error()}
	}
	st, err := j.share.Status(ctx)
	switch away := time.Duration(st.Own.Seconds * float64(time.Second)); {
	case err != nil: // the log is closing, or is damaged, which others tell
		return nil
	case st.Own.Forked > 0:
		return []string{fmt.Sprintf("another home writes this home's log too, from record %d on: nothing of here is sent; `cmemd status --cluster` says more", st.Own.Forked)}
	case st.Own.Records > 0 && away > awayFor:
		return []string{fmt.Sprintf("what was recorded here in the last %d days is in no store that other machines read: `cmemd status --cluster` says why",
			int(away.Hours()/24))}
	}
	return nil
}

// Writer is what the machine is called that writes another log; empty where that is not known. It is quick.
func (s *Sharing) Writer(log events.LogID) string {
	j, err := s.now()
	if err != nil {
		return ""
	}
	return j.share.Writer(log)
}

// Flush returns once all that this home's log held when it was called is in the store. Errors are refusals in words, and ctx.Err().
func (s *Sharing) Flush(ctx context.Context) (out api.ClusterFlushed, err error) {
	for {
		j, err := s.now()
		if err == nil && j.revoked() {
			err = errRevoked
		}
		if err == nil {
			err = j.share.Flush(ctx)
		}
		if errors.Is(err, share.ErrForked) && sleep.For(ctx, branchLook) == nil {
			continue // it goes on as a log of its own, and sends all by that
		}
		if err != nil {
			return out, asRefusal(ctx, "Not all is in the store", err)
		}
		st, err := j.share.Status(ctx)
		return api.ClusterFlushed{Position: st.Own.Shipped}, err
	}
}

// branchLook is how often it is looked whether a home that was copied goes on as another.
const branchLook = 200 * time.Millisecond
