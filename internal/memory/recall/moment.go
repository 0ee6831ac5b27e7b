package recall

import (
	"context"
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/projections/turn"
)

// moment is a place in the log, and when that was recorded. The zero one is now.
type moment struct {
	position events.Position
	at       time.Time
}

// momentOf is the moment of a position; of one behind the log's end, that end.
func (r *Recall) momentOf(ctx context.Context, p events.Position) (moment, error) {
	if p == 0 {
		return moment{}, nil
	}
	last, err := r.cfg.Log.Last(ctx)
	if err != nil || last == 0 {
		return moment{}, err
	}
	rec, err := r.cfg.Log.Get(ctx, min(p, last))
	return moment{position: p, at: rec.RecordedAt}, err
}

// turnAsOf is a turn as it was known at the moment.
func (m moment) turnAsOf(t turn.Turn) turn.Turn {
	if m.position == 0 {
		return t
	}
	return t.AsOf(m.position)
}

// rowsAsOf are the rows of ids as they stood at a moment.
func (r *Recall) rowsAsOf(ctx context.Context, m moment, ids ...events.ID) ([]rows.Row, error) {
	if m.position == 0 {
		return r.cfg.Views.Rows(ctx, ids...)
	}
	return r.cfg.Views.RowsAsOf(ctx, m.position, m.at, ids...)
}

// sessionAsOf is a session as it was known at a moment: what it did until then, and what had become of its inputs.
func (r *Recall) sessionAsOf(ctx context.Context, s sessions.Session, m moment) (sessions.Session, error) {
	if m.position == 0 {
		return s, nil
	}
	then, err := r.cfg.Views.SessionAsOf(ctx, s.ID, m.position)
	if err != nil {
		return s, err
	}
	var state session.State
	for rec, err := range r.cfg.Log.Stream(ctx, s.ID.Stream(), 1) {
		if err != nil {
			return s, err
		}
		if rec.Position > m.position {
			break
		}
		if err := state.EvolveRecord(rec); err != nil {
			return s, err
		}
	}
	b := state.Balance()
	then.Inputs = outcomes.Balance{Balance: b}
	then.Pending = b.Pending
	prompts, err := r.cfg.Views.Prompts(ctx, s.ID)
	first := slices.IndexFunc(prompts, func(p rows.Row) bool { return p.Text != "" })
	if first >= 0 && prompts[first].Position <= m.position {
		then.Title = s.Title
	}
	return then, err
}

// pastRows are rows by themselves as they stood at the moment, without those that were recorded later, or that keep refuses.
func (m moment) pastRows(list []rows.Row, keep func(rows.Row) bool) (out []rows.Row) {
	for _, row := range list {
		if row = row.AsOf(m.position, m.at); row.Position <= m.position && keep(row) {
			out = append(out, row)
		}
	}
	return out
}
