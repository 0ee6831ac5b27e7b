package server

import (
	"context"
	"slices"
	"sync"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
)

// maxEchoes is how many sessions' lines are remembered; each has at most some twenty kilobytes of them.
const maxEchoes = 256

// echoes remembers what sessions were given, so that what they repeat is not recorded as theirs. What it holds is in
// memory alone: after a restart it comes from the rows that the views say were given, without those that were forgotten.
type echoes struct {
	mu    sync.Mutex // guards the fields below
	told  map[events.SessionID]*agents.InjectedText
	order []events.SessionID // the one asked for last at the end
}

// toldTo returns what a session was given; nil: nothing. Errors are only logged: what is not known to be repeated is kept.
func (s *Server) toldTo(ctx context.Context, id events.SessionID) *agents.InjectedText {
	if told, ok := s.echoes.get(id); ok {
		return told
	}
	lines, err := s.cfg.Recall.InjectedLines(ctx, id)
	if err != nil {
		s.logger.Debug("what a session was given is not known", "session", id, "err", err)
		return nil
	}
	var told *agents.InjectedText
	if len(lines) > 0 {
		told = told.With(lines...)
	}
	if s.cfg.Views.Position() >= s.begun() {
		told = s.echoes.put(id, told)
	}
	return told
}

// begun is the log's end when this was asked first: what was given before that is in the views once they know it.
func (s *Server) begun() events.Position {
	s.beginOnce.Do(func() {
		last, err := s.cfg.Log.Last(context.Background())
		if err != nil {
			last = ^events.Position(0) // nothing is remembered then
		}
		s.beganAt = last
	})
	return s.beganAt
}

// given notes that a session is given text now.
func (s *Server) given(ctx context.Context, id events.SessionID, text string) {
	before := s.toldTo(ctx, id)
	s.echoes.learn(id, before.With(text))
}

// withoutEchoes takes what came back of memory out of captures of one session. A capture of which nothing is left is none.
func (s *Server) withoutEchoes(ctx context.Context, id events.SessionID, captures []session.Capture) []session.Capture {
	for i := range captures {
		captures[i].Event = s.withoutEcho(ctx, id, captures[i].Event)
	}
	return slices.DeleteFunc(captures, func(c session.Capture) bool { return c.Event == nil })
}

// withoutEcho is e without the lines that its session was given, and without those of rows whose ids begin lines of it,
// whichever session was given them; nil: nothing is left.
func (s *Server) withoutEcho(ctx context.Context, id events.SessionID, e events.Event) events.Event {
	told := s.toldTo(ctx, id)
	if marks := agents.Marks(e); len(marks) > 0 {
		lines, err := s.cfg.Recall.Lines(ctx, marks...)
		if err != nil {
			s.logger.Debug("rows that a report names are not known", "session", id, "err", err)
		}
		if len(lines) > 0 {
			told = told.With(lines...)
		}
	}
	out, cut := told.Cut(e)
	if cut > 0 {
		s.logger.Debug("memory that came back is not recorded again", "session", id, "kind", events.KindOf(e), "lines", cut)
	}
	return out
}

func (m *echoes) get(id events.SessionID) (*agents.InjectedText, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	told, ok := m.told[id]
	if ok {
		m.touch(id)
	}
	return told, ok
}

// put remembers what was read of a session, unless more is known of it by now, and returns what is known.
func (m *echoes) put(id events.SessionID, told *agents.InjectedText) *agents.InjectedText {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.told[id]; ok {
		return known
	}
	m.set(id, told)
	return told
}

func (m *echoes) learn(id events.SessionID, told *agents.InjectedText) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(id, told)
}

// set remembers, and forgets the session that was asked for least lately. The caller holds mu.
func (m *echoes) set(id events.SessionID, told *agents.InjectedText) {
	if m.told == nil {
		m.told = map[events.SessionID]*agents.InjectedText{}
	}
	m.told[id] = told
	m.touch(id)
	if len(m.order) > maxEchoes {
		delete(m.told, m.order[0])
		m.order = slices.Delete(m.order, 0, 1)
	}
}

// touch moves a session to the end of the order. The caller holds mu.
func (m *echoes) touch(id events.SessionID) {
	if n := len(m.order); n > 0 && m.order[n-1] == id {
		return
	}
	if i := slices.Index(m.order, id); i >= 0 {
		m.order = slices.Delete(m.order, i, i+1)
	}
	m.order = append(m.order, id)
}
