package capture

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
)

// maxHidden is how many sessions that are hidden are counted at once: where there are more, the count of another is recorded as it
// is, and begins anew with its next report.
const maxHidden = 1024

// hidden counts what ignore files keep off the record, by session.
type hidden struct {
	mu       sync.Mutex // guards sessions
	sessions map[events.SessionID]events.CaptureHidden
}

// Hidden is a session of which an ignore file keeps reports off the record.
type Hidden struct {
	events.CaptureHidden
	At time.Time // when it was recorded last
}

// hide counts a report that the file keeps off the record. The first one of a session is recorded, and the number of
// them when it ends.
func (p *Pipeline) hide(ctx context.Context, o session.Origin, file string, ends bool) {
	id := o.Session()
	p.hidden.mu.Lock()
	is, known := p.hidden.sessions[id]
	var record []events.CaptureHidden
	if !known && len(p.hidden.sessions) >= maxHidden {
		for other, counted := range p.hidden.sessions { // any of them
			record = append(record, counted)
			delete(p.hidden.sessions, other)
			break
		}
	}
	is.Agent, is.Session, is.File, is.Count = o.Agent, id, p.cfg.redactText(file), is.Count+1
	if p.hidden.sessions[id] = is; ends {
		delete(p.hidden.sessions, id)
	}
	p.hidden.mu.Unlock()
	if !known || ends {
		record = append(record, is)
	}
	if len(record) > 0 {
		p.recordHidden(ctx, record...)
	}
}

// RecordHidden records how much was hidden of each session that did not end. The daemon calls it at its own end.
func (p *Pipeline) RecordHidden(ctx context.Context) {
	p.hidden.mu.Lock()
	var open []events.CaptureHidden
	for _, is := range p.hidden.sessions {
		if is.Count > 1 { // the first one is on record
			open = append(open, is)
		}
	}
	clear(p.hidden.sessions)
	p.hidden.mu.Unlock()
	if len(open) > 0 {
		p.recordHidden(ctx, open...)
	}
}

func (p *Pipeline) recordHidden(ctx context.Context, all ...events.CaptureHidden) {
	var drafts []events.Draft
	for _, is := range all {
		drafts = append(drafts, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: p.cfg.Now(), Event: is})
	}
	if _, err := eventlog.AppendEnd(ctx, p.cfg.Log, events.Daemon, drafts...); err != nil {
		p.logger.Warn("what an ignore file hides is not on record", "sessions", len(all), "err", err)
	}
}

// Hidden lists the sessions of which ignore files kept reports off the record since a time, the latest first, each with the
// newest count. It reads the daemon's stream.
func (p *Pipeline) Hidden(ctx context.Context, since time.Time) (found []Hidden, err error) {
	for e, err := range eventlog.Events[events.CaptureHidden](ctx, p.cfg.Log, events.Daemon, 1) {
		if err != nil {
			return nil, err
		}
		if e.OccurredAt.Before(since) {
			continue
		}
		found = slices.DeleteFunc(found, func(h Hidden) bool { return h.Session == e.Event.Session })
		found = append(found, Hidden{CaptureHidden: e.Event, At: e.OccurredAt})
	}
	p.hidden.mu.Lock()
	defer p.hidden.mu.Unlock()
	for i, h := range found {
		if is, ok := p.hidden.sessions[h.Session]; ok {
			found[i].Count = is.Count
		}
	}
	slices.Reverse(found)
	return found, nil
}

// withoutHidden is what the rules leave of a report, and the ignore file that hides all of it, where one does. Start says that
// the report is the start of a session.
func (p *Pipeline) withoutHidden(ctx context.Context, d delivery, r agents.Report) (kept agents.Report, file string, start bool) {
	rules := p.cfg.Rules.With(d.Ignore)
	ends := slices.ContainsFunc(r.Captures, func(c session.Capture) bool { return events.KindOf(c.Event) == events.KindSessionClosed })
	had, start := len(r.Captures) > 0, StartsSession(r.Wants)
	if kept = withoutPrivate(r, rules); !had || len(kept.Captures) > 0 {
		return kept, "", start
	}
	if file = rules.HiddenBy(r.Origin.Cwd); file != "" {
		p.hide(ctx, r.Origin, file, ends)
	}
	return kept, file, start
}
