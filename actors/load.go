package actors

import (
	"context"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// load reads what a turn is about and puts the prompt together. A record that is damaged, or whose payload was erased,
// leaves its place empty: one bad record must not keep the others waiting.
func (s *System) load(ctx context.Context, m prepare) (observer.Prompt, error) {
	p := observer.Prompt{
		Turn: m.turn, Kind: m.work.Kind, Attempt: m.work.Attempt, Project: m.origin.Project, Cwd: m.origin.Cwd, Agent: m.origin.Agent,
	}
	var sizes []int
	for _, at := range m.work.Settles {
		r, e, err := s.event(ctx, at)
		if err != nil {
			return observer.Prompt{}, err
		}
		p.Inputs, sizes = append(p.Inputs, observer.Input{Position: at, At: r.OccurredAt, Event: e}), append(sizes, int(r.Size))
		notice(&p, e)
	}
	if err := s.markRepeats(ctx, p.Inputs, sizes, m.earlier); err != nil {
		return observer.Prompt{}, err
	}
	for _, at := range m.work.Reads {
		_, e, err := s.event(ctx, at)
		if err != nil {
			return observer.Prompt{}, err
		}
		notice(&p, e)
	}
	err := s.loadBrief(ctx, m, &p)
	p.Touched = distinct(p.Touched)
	return p, err
}

// notice takes from an event what the prompt says outside its inputs.
func notice(p *observer.Prompt, e events.Event) {
	switch e := e.(type) {
	case events.AgentStopped:
		p.Message, p.Stop = e.LastMessage, e.Cause
	case events.ObservationParsed:
		p.Observed = append(p.Observed, e)
		p.Touched = append(p.Touched, touchedBy(e)...)
	}
}

// loadBrief reads the brief. A fresh generation is told no titles; which files the session has touched is no telling.
func (s *System) loadBrief(ctx context.Context, m prepare, p *observer.Prompt) error {
	for _, at := range m.work.Brief {
		_, e, err := s.event(ctx, at)
		if err != nil {
			return err
		}
		o, ok := e.(events.ObservationParsed)
		p.Touched = append(p.Touched, touchedBy(o)...)
		if ok && o.Title != "" && !m.work.Fresh && !untrue(o) { // what is not borne out must not be built upon
			p.Recent = append(p.Recent, o.Title)
		}
	}
	if m.work.PromptAt == 0 {
		return nil
	}
	_, e, err := s.event(ctx, m.work.PromptAt)
	if q, ok := e.(events.PromptSubmitted); ok {
		p.Request = q.Text
	}
	return err
}

func (s *System) event(ctx context.Context, at events.Position) (events.Record, events.Event, error) {
	r, err := s.cfg.Log.Get(ctx, at)
	if errors.Is(err, events.ErrCorrupt) || errors.Is(err, eventlog.ErrNotFound) {
		s.cfg.Logger.Warn("a record cannot be read and is left out of its turn", "position", at, "err", err)
		return r, nil, nil
	}
	if err != nil {
		return r, nil, fmt.Errorf("read %d: %w", at, err)
	}
	e, err := r.Event()
	if err != nil {
		if !errors.Is(err, events.ErrErased) {
			s.cfg.Logger.Warn("a payload cannot be read and is left out of its turn", "position", at, "err", err)
		}
		return r, nil, nil
	}
	return r, e, nil
}
