package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// Request is a turn that is due.
type Request struct {
	Turn     events.ID
	Work     session.Work
	Origin   session.Origin
	Earlier  []session.Sized          // the last of the session's tool uses before those of the turn: see rememberedInputs
	Later    []events.Position        // the first of those behind the turn's, where it observes again
	Observed []session.ObservedInputs // what was observed of Earlier
}

// RequestOf is the turn that does the work w of a session in state s.
func RequestOf(id events.ID, w session.Work, s *session.State) Request {
	r := Request{Turn: id, Work: w, Origin: s.Origin()}
	if w.Kind != events.TurnObservation {
		return r
	}
	first, last := w.Settles[0], w.Settles[len(w.Settles)-1]
	r.Earlier, r.Later = s.Before(first, rememberedInputs), s.Since(last, rememberedInputs)
	if len(r.Earlier) > 0 {
		r.Observed = s.ObservationsSince(r.Earlier[0].Position)
	}
	return r
}

// Load reads what a turn is about and puts the prompt together; of what its work offers, it chooses what the turn reads. A record
// that is damaged, or whose payload was erased, leaves its place empty: one bad record must not keep the others waiting. The error
// is that of the log.
func (t *Pipeline) Load(ctx context.Context, r Request) (observer.Prompt, error) {
	p := observer.Prompt{
		Turn: r.Turn, Kind: r.Work.Kind, Attempt: r.Work.Attempt, Project: r.Origin.Project, Cwd: r.Origin.Cwd, Agent: r.Origin.Agent,
		Root: r.Origin.ProjectRoot,
	}
	sizes := make([]int, 0, len(r.Work.Settles))
	p.Inputs = make([]observer.Input, 0, len(r.Work.Settles))
	for rec, err := range eventlog.GetAll(ctx, t.cfg.Log, r.Work.Settles...) {
		at := r.Work.Settles[len(sizes)]
		e, err := t.payload(at, rec, err)
		if err != nil {
			return observer.Prompt{}, err
		}
		p.Inputs, sizes = append(p.Inputs, observer.NewInput(at, rec.OccurredAt, e)), append(sizes, int(rec.Size))
		notice(&p, rec, e)
	}
	if err := t.markRepeats(ctx, p.Inputs, sizes, r.Earlier); err != nil {
		return observer.Prompt{}, err
	}
	if err := t.loadFetched(ctx, r, &p); err != nil {
		return observer.Prompt{}, err
	}
	if err := t.loadUndone(ctx, r, &p); err != nil {
		return observer.Prompt{}, err
	}
	for _, at := range r.Work.Reads {
		if slices.Contains(r.Work.Gone, at) {
			continue
		}
		rec, e, err := t.event(ctx, at)
		if err != nil {
			return observer.Prompt{}, err
		}
		notice(&p, rec, e)
	}
	p.Reads = r.Work.Reads
	if len(r.Work.Offers) > 0 {
		if err := t.loadWhole(ctx, r.Work, &p); err != nil {
			return observer.Prompt{}, err
		}
	}
	err := t.loadBrief(ctx, r.Work, &p)
	p.Touched = distinct(p.Touched)
	return p, err
}

// loadFetched notes which inputs are of subagents that had brought in others' words before, in an earlier turn: their calls, and what they
// answered. Their answers name them by their ids.
func (t *Pipeline) loadFetched(ctx context.Context, r Request, p *observer.Prompt) error {
	var calls []observer.Input
	for _, in := range p.Inputs {
		if c := in.Call(); c != nil && c.Delegated() {
			calls = append(calls, in)
		}
	}
	if len(calls) == 0 {
		return nil
	}
	fetched := map[string]bool{} // by subagents' ids
	for _, earlier := range r.Earlier {
		_, e, err := t.event(ctx, earlier.Position)
		if err != nil {
			return err
		}
		if u, ok := e.(events.ToolUsed); ok && u.SubagentID != "" && !fetched[u.SubagentID] {
			fetched[u.SubagentID] = evidence.Parse(u).Fetches()
		}
	}
	for id, is := range fetched {
		for _, in := range calls {
			c := in.Call()
			if is && (c.SubagentID == id || strings.Contains(c.Input, id) || strings.Contains(c.Output, id)) {
				p.Fetched = append(p.Fetched, in.Position)
			}
		}
	}
	return nil
}

// notice takes from an event what the prompt says outside its inputs.
func notice(p *observer.Prompt, rec events.Record, e events.Event) {
	switch e := e.(type) {
	case events.AgentStopped:
		p.Message, p.Stop = e.LastMessage, e.Cause
	case events.AgentSaid:
		p.Said = append(p.Said, observer.Saying{At: rec.OccurredAt, Text: e.Text})
	case events.ObservationParsed:
		p.Observed = append(p.Observed, e)
		p.Touched = append(p.Touched, touchedBy(e)...)
	}
}

// loadBrief reads the brief. A fresh generation is told no titles; which files the session has touched is no telling.
func (t *Pipeline) loadBrief(ctx context.Context, w session.Work, p *observer.Prompt) error {
	for _, at := range w.Brief {
		_, e, err := t.event(ctx, at)
		if err != nil {
			return err
		}
		o, ok := e.(events.ObservationParsed)
		p.Touched = append(p.Touched, touchedBy(o)...)
		if ok && o.Title != "" && !w.Fresh && !unfounded(o) { // what is not borne out must not be built upon
			p.Recent = append(p.Recent, o.Title)
		}
	}
	if w.PromptAt == 0 {
		return nil
	}
	_, e, err := t.event(ctx, w.PromptAt)
	if q, ok := e.(events.PromptSubmitted); ok {
		p.Request = q.Text
	}
	return err
}

func (t *Pipeline) event(ctx context.Context, at events.Position) (events.Record, events.Event, error) {
	r, err := t.cfg.Log.Get(ctx, at)
	e, err := t.payload(at, r, err)
	return r, e, err
}

// payload is the event of the record that was read at a position, or nil where there is none to be had.
func (t *Pipeline) payload(at events.Position, r events.Record, err error) (events.Event, error) {
	if errors.Is(err, events.ErrCorrupt) || errors.Is(err, eventlog.ErrNotFound) {
		t.cfg.Logger.Warn("a record cannot be read and is left out of its turn", "position", at, "err", err)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %d: %w", at, err)
	}
	e, err := r.Event()
	if err != nil {
		if !errors.Is(err, events.ErrErased) {
			t.cfg.Logger.Warn("a payload cannot be read and is left out of its turn", "position", at, "err", err)
		}
		return nil, nil
	}
	return e, nil
}

// Budget is how many of size bytes may be sent of an input that was too long alone, cuts times: half of what there was
// each time, where a batch limit bounds what there was. 0: as many as the provider likes.
func Budget(size, limit, cuts int) int {
	if cuts == 0 {
		return 0
	}
	if limit > 0 {
		size = min(size, limit)
	}
	return max(1, size>>cuts)
}
