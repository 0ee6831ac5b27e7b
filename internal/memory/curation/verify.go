package curation

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/projections/outcomes"
)

// VerifyLog checks every record of a log, and then counts what became of its inputs anew. What it counts is set beside what
// the sessions' own fold says and, unless ledger is nil, beside what the views say, which ledger returns. Views that cannot
// say it leave that unchecked. progress may be nil. Errors are those of reading the log, and ctx.Err().
func VerifyLog(
	ctx context.Context, log eventlog.Log, ledger func(context.Context) (outcomes.Ledger, error), progress func(done, total uint64),
) (api.Verified, error) {
	last, err := log.Last(ctx)
	if err != nil {
		return api.Verified{}, err
	}
	if progress == nil {
		progress = func(uint64, uint64) {}
	}
	gaps := gapFinder{Log: log}
	err = eventlog.Verify(ctx, &gaps, func(done, total uint64) { progress(done, 2*total) })
	if bad, ok := errors.AsType[*eventlog.CorruptError](err); ok {
		return api.Verified{Position: bad.Position, Stream: bad.Stream, Reason: bad.Reason}, nil
	}
	if err != nil {
		return api.Verified{}, err
	}
	v := verification{api.Verified{
		Records: last, Lost: gaps.lost.Count, LostAt: gaps.lost.List, Unread: gaps.unread, UnreadAt: gaps.unreadAt,
	}}
	err = v.audit(ctx, log, ledger, func(at events.Position) { progress(uint64(last+min(at, last)), 2*uint64(last)) })
	v.OK = err == nil && len(v.Discrepancies) == 0
	return v.Verified, err
}

// gapFinder is a log that notes, while it is read from its beginning, what salvages of it did not find.
type gapFinder struct {
	eventlog.Log
	lost     events.Spans
	unread   uint64
	unreadAt []events.Span
}

// All implements eventlog.Log.
func (g *gapFinder) All(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range g.Log.All(ctx, from) {
			if err == nil {
				g.note(r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// NoteVerified implements eventlog.Noter.
func (g *gapFinder) NoteVerified(err error) error {
	if n, ok := g.Log.(eventlog.Noter); ok {
		return n.NoteVerified(err)
	}
	return err
}

func (g *gapFinder) note(r events.Record) {
	switch r.Kind {
	case events.KindRecordLost:
		g.lost.Add(r.Position)
	case events.KindLogSalvaged:
		e, err := r.Event()
		if s, ok := e.(events.LogSalvaged); ok && err == nil {
			g.unread, g.unreadAt = g.unread+s.Unread, append(g.unreadAt, s.UnreadAt...)
		}
	}
}

// verification is a result as it is put together.
type verification struct{ api.Verified }

func (v *verification) audit(
	ctx context.Context, log eventlog.Log, ledger func(context.Context) (outcomes.Ledger, error), progress func(events.Position),
) error {
	upTo := v.Records
	var views *outcomes.Ledger
	if ledger != nil {
		l, err := ledger(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			v.Unchecked = "the views: they do not know yet what the log holds"
		default:
			views, upTo = &l, l.Position
		}
	}
	counted, err := replay.Audit(ctx, until(log.All(ctx, 1), upTo, progress))
	if errors.Is(err, events.ErrUnknownKind) {
		v.Unchecked = "the balance: the log holds records of a newer cmemd"
		return nil
	}
	if err != nil {
		return err
	}
	v.Balance, v.More = &counted.Balance, counted.More
	for _, d := range counted.Discrepancies {
		v.note(api.Discrepancy{
			Session: d.Session, Position: d.Position, In: api.InLog, Problem: d.Problem, Counted: d.Defined, Claimed: d.Folded,
		})
	}
	if views != nil {
		v.compare(counted, *views)
	}
	return nil
}

// until is records up to and with a position, and tells now and then how far it is.
func until(records iter.Seq2[events.Record, error], last events.Position, progress func(events.Position)) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range records {
			if err == nil && r.Position > last {
				return
			}
			if r.Position%4096 == 0 {
				progress(r.Position)
			}
			if !yield(r, err) {
				return
			}
		}
		progress(last)
	}
}

// compare sets what the views say beside what was counted at the same position.
func (v *verification) compare(counted replay.Accounts, views outcomes.Ledger) {
	const problem = "the view of outcomes counts otherwise than the log"
	if claimed := views.All.Balance; claimed != counted.Balance {
		v.note(api.Discrepancy{In: api.InViews, Problem: problem, Counted: counted.Balance, Claimed: claimed})
	}
	sessions := maps.Clone(counted.Sessions)
	for id := range views.Sessions {
		if _, ok := sessions[id]; !ok {
			sessions[id] = session.Balance{}
		}
	}
	order := slices.SortedFunc(maps.Keys(sessions), func(a, b events.SessionID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range order {
		if claimed := views.Sessions[id].Balance; claimed != sessions[id] {
			v.note(api.Discrepancy{Session: id, In: api.InViews, Problem: problem, Counted: sessions[id], Claimed: claimed})
		}
	}
}

func (v *verification) note(d api.Discrepancy) {
	if len(v.Discrepancies) == replay.MaxListed {
		v.More++
		return
	}
	v.Discrepancies = append(v.Discrepancies, d)
}
