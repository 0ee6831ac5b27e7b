package capture

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
	mu       sync.Mutex // guards the fields below
	injected map[events.SessionID]*agents.InjectedText
	order    []events.SessionID // the one asked for last at the end
}

// injectedInto returns what a session was given; nil: nothing. Errors are only logged: what is not known to be repeated is kept.
func (p *Pipeline) injectedInto(ctx context.Context, id events.SessionID) *agents.InjectedText {
	if injected, ok := p.echoes.get(id); ok {
		return injected
	}
	lines, err := p.cfg.Injections.InjectedLines(ctx, id)
	if err != nil {
		p.logger.Debug("what a session was given is not known", "session", id, "err", err)
		return nil
	}
	var injected *agents.InjectedText
	if len(lines) > 0 {
		injected = injected.With(lines...)
	}
	if p.cfg.Injections.InjectionsKnown() >= p.begun {
		injected = p.echoes.put(id, injected, true)
	}
	return injected
}

// Given notes that a session is given text now: before the agent can repeat it.
func (p *Pipeline) Given(ctx context.Context, id events.SessionID, text string) {
	p.echoes.put(id, p.injectedInto(ctx, id).With(text), false)
}

// withoutEchoes takes what came back of memory out of captures of one session. A capture of which nothing is left is none.
func (p *Pipeline) withoutEchoes(ctx context.Context, id events.SessionID, captures []session.Capture) []session.Capture {
	for i := range captures {
		captures[i].Event = p.withoutEcho(ctx, id, captures[i].Event)
		captures[i] = p.withPreferences(ctx, captures[i])
	}
	return slices.DeleteFunc(captures, func(c session.Capture) bool { return c.Event == nil })
}

// withoutEcho is e without the lines that its session was given, and without those of rows whose ids begin lines of it,
// whichever session was given them; nil: nothing is left.
func (p *Pipeline) withoutEcho(ctx context.Context, id events.SessionID, e events.Event) events.Event {
	injected := p.injectedInto(ctx, id)
	if marks := agents.Marks(e); len(marks) > 0 {
		lines, err := p.cfg.Injections.Lines(ctx, marks...)
		if err != nil {
			p.logger.Debug("rows that a report names are not known", "session", id, "err", err)
		}
		if len(lines) > 0 {
			injected = injected.With(lines...)
		}
	}
	out, cut := injected.Cut(e)
	if cut > 0 {
		p.logger.Debug("memory that came back is not recorded again", "session", id, "kind", events.KindOf(e), "lines", cut)
	}
	return out
}

func (m *echoes) get(id events.SessionID) (*agents.InjectedText, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	injected, ok := m.injected[id]
	if ok {
		m.touch(id)
	}
	return injected, ok
}

// put remembers what a session was given, forgets the session that was asked for least lately, and returns what is known:
// what was read of the views only where no more is known by now.
func (m *echoes) put(id events.SessionID, injected *agents.InjectedText, fromViews bool) *agents.InjectedText {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.injected[id]; ok && fromViews {
		return known
	}
	m.injected[id] = injected
	if m.touch(id); len(m.order) > maxEchoes {
		delete(m.injected, m.order[0])
		m.order = m.order[1:]
	}
	return injected
}

// touch moves a session to the end of the order. The caller holds mu.
func (m *echoes) touch(id events.SessionID) {
	if n := len(m.order); n == 0 || m.order[n-1] != id {
		m.order = append(slices.DeleteFunc(m.order, func(other events.SessionID) bool { return other == id }), id)
	}
}
