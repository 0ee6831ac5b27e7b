package erasure

import (
	"context"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/sleep"
	"github.com/cmemd/cmemd/projections/outcomes"
)

// retainSlice is how many inputs retention looks at before it rests.
const retainSlice = 500

// Status is what retention and erasure are doing.
type Status struct {
	Retention time.Duration `json:"retention_ns,omitempty"` // after which payloads of settled inputs are erased; 0: never
	Inputs    int           `json:"inputs"`                 // that retention erased, ever
	Looked    time.Time     `json:"looked,omitzero"`        // when it last looked at all there is
	Running   bool          `json:"running"`                // it is looking now
	Requests  int           `json:"requests"`               // of agents to forget, that no person has answered
	Owed      bool          `json:"owed"`                   // something is being forgotten and not gone from all files yet
}

// Status says what is going on. It does not wait.
func (e *Eraser) Status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.state.get()
	out := e.status
	out.Inputs, out.Owed = s.Erased, s.unfinished()
	return out
}

func (e *Eraser) note(alter func(*Status)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	alter(&e.status)
}

// retain erases the payloads of inputs that are older than Retain and settled, slice by slice. It begins where the last look
// left the first that was not settled, so that it may end at any moment.
func (e *Eraser) retain(ctx context.Context) error {
	e.note(func(s *Status) { s.Running = true })
	defer e.note(func(s *Status) { s.Running = false })
	before := e.cfg.Now().Add(-e.cfg.Retain)
	r := retentionPass{e: e, next: e.state.get().Retained}
	for done := false; !done && ctx.Err() == nil; {
		var err error
		if done, err = r.eraseBatch(ctx, before); err != nil {
			return err
		}
		_ = sleep.For(ctx, e.cfg.Slice)
	}
	if err := r.purge(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	e.note(func(s *Status) { s.Looked = e.cfg.Now() })
	return nil
}

// retentionPass is one look.
type retentionPass struct {
	e         *Eraser
	next      events.Position // looked at so far
	unsettled bool            // something before next is not settled: the next look begins there
	erased    int
}

// eraseBatch looks at some inputs. done: there are no more that are old enough.
func (r *retentionPass) eraseBatch(ctx context.Context, before time.Time) (done bool, err error) {
	if err := r.e.busy.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer r.e.busy.Release(1)
	old, next, done, err := r.read(ctx, before)
	if err != nil {
		return false, err
	}
	settled, err := r.settled(ctx, old)
	if err != nil {
		return false, err
	}
	for stream, positions := range settled {
		if err := r.erase(ctx, stream, positions); err != nil {
			return false, err
		}
	}
	r.next = next
	if r.unsettled {
		return done, nil
	}
	return done, r.e.state.change(func(s *state) { s.Retained = next })
}

// expiresByAge reports whether records of a kind are erased by age: inputs, and what was said between them.
func expiresByAge(k events.Kind) bool { return events.IsInput(k) || k == events.KindAgentSaid }

// read collects inputs that are old enough, others of their kinds that no turn is to settle, and what was said between them.
func (r *retentionPass) read(ctx context.Context, before time.Time) (old []events.Header, next events.Position, done bool, err error) {
	next = r.next
	for rec, err := range r.e.cfg.Log.All(ctx, r.next+1) {
		if err != nil {
			return nil, 0, false, err
		}
		if rec.RecordedAt.After(before) { // times never decrease
			return old, next, true, nil
		}
		next = rec.Position
		if !expiresByAge(rec.Kind) || rec.Erased || !rec.Place().Log.IsZero() {
			continue
		}
		if old = append(old, rec.Header); len(old) == retainSlice {
			return old, next, false, nil
		}
	}
	return old, next, true, nil
}

// settled keeps those that nobody will ask about again unless a person does.
func (r *retentionPass) settled(ctx context.Context, old []events.Header) (map[events.StreamID][]events.Position, error) {
	out := map[events.StreamID][]events.Position{}
	var inputs []events.Position
	streams := map[events.Position]events.StreamID{}
	for _, h := range old {
		if !h.IsInput() {
			out[h.Stream] = append(out[h.Stream], h.Position)
			continue
		}
		inputs, streams[h.Position] = append(inputs, h.Position), h.Stream
	}
	found, err := r.e.cfg.Views.OutcomesAt(ctx, inputs)
	if err != nil {
		return nil, err
	}
	for _, in := range found {
		if in.Outcome == outcomes.Pending || in.Reobserve {
			r.unsettled = true
			continue
		}
		s := streams[in.Position]
		out[s] = append(out[s], in.Position)
	}
	r.unsettled = r.unsettled || len(found) < len(inputs)
	return out, nil
}

// erase takes payloads of one session out of the log. A session that cannot be asked keeps them until the next look.
func (r *retentionPass) erase(ctx context.Context, stream events.StreamID, positions []events.Position) error {
	owed := r.e.state.get().Owed
	if err := r.e.state.change(func(s *state) { s.Owed = true }); err != nil {
		return err
	}
	if _, err := r.e.record(ctx, stream, positions, CauseRetention); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.e.cfg.Logger.Warn("a session keeps its old inputs for now", "stream", stream, "err", err)
		r.unsettled = true
		return r.e.state.change(func(s *state) { s.Owed = owed })
	}
	if err := r.e.cfg.Log.Erase(ctx, positions...); err != nil {
		return fmt.Errorf("erasure: %w", err)
	}
	r.erased += len(positions)
	return r.e.state.change(func(s *state) { s.Erased += len(positions) })
}

// purge has the files made anew without what was erased, at this look or at one before whose purge failed.
func (r *retentionPass) purge(ctx context.Context) error {
	if err := r.e.busy.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.e.busy.Release(1)
	if err := r.e.purgeOwed(ctx, func(int) {}); err != nil {
		return err
	}
	if r.erased > 0 {
		r.e.cfg.Logger.Info("old inputs were erased", "inputs", r.erased)
	}
	return nil
}
