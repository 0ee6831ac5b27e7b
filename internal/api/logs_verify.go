package api

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/projections"
)

// Verified is the result of checking the log. A log that is damaged, or whose balance does not add up, is no error of the
// call.
type Verified struct {
	OK       bool            `json:"ok"`                 // every record is what it says, and the balance adds up
	Records  events.Position `json:"records"`            // checked, if none is bad
	Position events.Position `json:"position,omitempty"` // of the first bad record; 0: there is none, or it is the file itself
	Stream   events.StreamID `json:"stream,omitempty"`
	Reason   string          `json:"reason,omitempty"` // why a record is bad; empty: none is

	Balance       *session.Balance `json:"balance,omitempty"`       // of all inputs, counted anew from the records; nil: it was not
	Discrepancies []Discrepancy    `json:"discrepancies,omitempty"` // where something else counts otherwise
	More          int              `json:"more,omitempty"`          // discrepancies beyond those
	Unchecked     string           `json:"unchecked,omitempty"`     // what of the balance could not be checked, and why
}

// Damaged reports whether a record is not what it says.
func (v Verified) Damaged() bool { return v.Reason != "" }

// Discrepancy is a place where a balance does not add up.
type Discrepancy struct {
	Session  events.SessionID `json:"session,omitzero"`   // zero: all of them together
	Position events.Position  `json:"position,omitempty"` // of the event that cannot be right; 0: the balance as a whole
	In       string           `json:"in"`                 // log: the records do not agree; views: the view of outcomes is wrong
	Problem  string           `json:"problem"`
	Counted  session.Balance  `json:"counted,omitzero"` // anew, from the records
	Claimed  session.Balance  `json:"claimed,omitzero"` // by what counts otherwise
}

// The places of a Discrepancy.
const (
	InLog   = "log"
	InViews = "views"
)

// getVerify checks the whole log, and the view of outcomes against it. What it finds is the result, not a failure.
func (s *Server) getVerify(w http.ResponseWriter, r *http.Request) error {
	if err := paramsOf(r).err(); err != nil {
		return err
	}
	return s.work(w, r, func(ctx context.Context, tell func(done, total uint64)) (any, error) {
		v, err := VerifyLog(ctx, s.cfg.Log, s.ledger, tell)
		switch {
		case err == nil && v.Damaged():
			s.logger.Error("the log is damaged", "position", v.Position, "err", v.Reason)
		case err == nil && len(v.Discrepancies) > 0:
			s.logger.Error("the balance does not add up", "discrepancies", len(v.Discrepancies)+v.More)
		}
		return v, err
	})
}

// ledger is what the view of outcomes says, once it knows all that the log holds now.
func (s *Server) ledger(ctx context.Context) (projections.Ledger, error) {
	if err := s.caughtUp(ctx); err != nil {
		return projections.Ledger{}, err
	}
	return s.cfg.Views.Ledger(ctx)
}

// VerifyLog checks every record of a log, and then counts what became of its inputs anew. What it counts is set beside what
// the sessions' own fold says and, unless ledger is nil, beside what the views say, which ledger returns. Views that cannot
// say it leave that unchecked. tell may be nil. Errors are those of reading the log, and ctx.Err().
func VerifyLog(
	ctx context.Context, log eventlog.Log, ledger func(context.Context) (projections.Ledger, error), tell func(done, total uint64),
) (Verified, error) {
	last, err := log.Last(ctx)
	if err != nil {
		return Verified{}, err
	}
	if tell == nil {
		tell = func(uint64, uint64) {}
	}
	err = eventlog.Verify(ctx, log, func(done, total uint64) { tell(done, 2*total) })
	var bad *eventlog.CorruptError
	if errors.As(err, &bad) {
		return Verified{Position: bad.Position, Stream: bad.Stream, Reason: bad.Reason}, nil
	}
	if err != nil {
		return Verified{}, err
	}
	v := Verified{Records: last}
	err = v.audit(ctx, log, ledger, func(at events.Position) { tell(uint64(last+min(at, last)), 2*uint64(last)) })
	v.OK = err == nil && len(v.Discrepancies) == 0
	return v, err
}

func (v *Verified) audit(
	ctx context.Context, log eventlog.Log, ledger func(context.Context) (projections.Ledger, error), tell func(events.Position),
) error {
	upTo := v.Records
	var views *projections.Ledger
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
	counted, err := replay.Audit(ctx, until(log.All(ctx, 1), upTo, tell))
	if errors.Is(err, events.ErrUnknownKind) {
		v.Unchecked = "the balance: the log holds records of a newer cmemd"
		return nil
	}
	if err != nil {
		return err
	}
	v.Balance, v.More = &counted.Balance, counted.More
	for _, d := range counted.Discrepancies {
		v.note(Discrepancy{
			Session: d.Session, Position: d.Position, In: InLog, Problem: d.Problem, Counted: d.Defined, Claimed: d.Folded,
		})
	}
	if views != nil {
		v.compare(counted, *views)
	}
	return nil
}

// until is records up to and with a position, and tells now and then how far it is.
func until(records iter.Seq2[events.Record, error], last events.Position, tell func(events.Position)) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range records {
			if err == nil && r.Position > last {
				return
			}
			if r.Position%4096 == 0 {
				tell(r.Position)
			}
			if !yield(r, err) {
				return
			}
		}
		tell(last)
	}
}

// compare sets what the views say beside what was counted at the same position.
func (v *Verified) compare(counted replay.Accounts, views projections.Ledger) {
	const problem = "the view of outcomes counts otherwise than the log"
	if claimed := plainBalance(views.All); claimed != counted.Balance {
		v.note(Discrepancy{In: InViews, Problem: problem, Counted: counted.Balance, Claimed: claimed})
	}
	sessions := maps.Clone(counted.Sessions)
	for id := range views.Sessions {
		if _, ok := sessions[id]; !ok {
			sessions[id] = session.Balance{}
		}
	}
	order := slices.SortedFunc(maps.Keys(sessions), func(a, b events.SessionID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range order {
		if claimed := plainBalance(views.Sessions[id]); claimed != sessions[id] {
			v.note(Discrepancy{Session: id, In: InViews, Problem: problem, Counted: sessions[id], Claimed: claimed})
		}
	}
}

func plainBalance(b Balance) session.Balance {
	return session.Balance{
		Captured: b.Captured, Observed: b.Observed, Skipped: b.Skipped, Dropped: b.Dropped, Pending: b.Pending, Forgotten: b.Forgotten,
	}
}

func (v *Verified) note(d Discrepancy) {
	if len(v.Discrepancies) == replay.MaxListed {
		v.More++
		return
	}
	v.Discrepancies = append(v.Discrepancies, d)
}

// String is the discrepancy on one line, for people.
func (d Discrepancy) String() string {
	who := "all sessions together"
	if !d.Session.IsZero() {
		who = "session " + d.Session.String()
	}
	if d.Position != 0 {
		return fmt.Sprintf("%s, position %d: %s", who, d.Position, d.Problem)
	}
	return fmt.Sprintf("%s: %s: %s, where there are %s", who, d.Problem, inWords(d.Claimed), inWords(d.Counted))
}

func inWords(b session.Balance) string {
	return fmt.Sprintf("%d captured = %d observed + %d skipped + %d dropped + %d pending + %d forgotten",
		b.Captured, b.Observed, b.Skipped, b.Dropped, b.Pending, b.Forgotten)
}
