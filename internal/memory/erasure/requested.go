package erasure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Errors of requests.
var (
	// ErrNoRequest is an id of no request to forget that is open.
	ErrNoRequest = errors.New("erasure: no such request is open")
	// ErrManyRequests is one request more than may be open at a time.
	ErrManyRequests = errors.New("erasure: too many requests are open")
	// ErrOthersRecords is a request of an agent for what only other machines recorded.
	ErrOthersRecords = errors.New("erasure: other machines recorded it, and agents ask for what this one recorded alone")
)

// maxRequests bounds the open requests: what a person can be asked to read through, and far more than an agent in order makes.
const maxRequests = 50

// requestDays is how long a person may take to answer a request, in days. A forgotten request must not hide memory for ever.
const requestDays = 30

// Requested is an open request of an agent to forget: what it names is in no answer, and nothing is erased.
type Requested struct {
	ID        events.ID         `json:"id"`
	Position  events.Position   `json:"position"` // of the record that says so
	At        time.Time         `json:"at"`
	Expires   time.Time         `json:"expires"` // then its rows are shown again
	Writer    events.Writer     `json:"writer"`
	Rows      []events.ID       `json:"rows"`    // that are hidden; never null
	Records   int               `json:"records"` // that would be erased
	Positions []events.Position `json:"-"`
	Others    int               `json:"-"` // records of other machines that fit too: only a person asks those to forget
}

// Ask records that an agent wants forgotten what a request chooses, and hides its rows: they are in no answer once it returns. Nothing is
// erased. What an open request names already is not named again: where nothing else is left, that request is returned, and nothing is
// recorded. Records is 0, and nothing is recorded, where nothing fits. What other machines recorded is not named; where nothing else fits
// that is ErrOthersRecords. Errors: that, ErrManyRequests, and those of Plan, of recording and of waiting for the views.
func (e *Eraser) Ask(ctx context.Context, req Request, by events.Writer) (Requested, error) {
	c, err := e.choose(ctx, req)
	if err != nil {
		return Requested{}, err
	}
	shares, _, err := c.shares(ctx)
	if err != nil {
		return Requested{}, err
	}
	out := Requested{ID: e.cfg.NewID(), At: e.cfg.Now(), Writer: by, Rows: []events.ID{}}
	out.Expires = out.At.AddDate(0, 0, requestDays)
	for _, sh := range shares {
		if sh.Log.IsZero() {
			out.Positions = append(out.Positions, sh.Positions...)
		} else {
			out.Others += len(sh.Positions)
		}
	}
	switch {
	case len(out.Positions) == 0 && len(shares) > 0:
		return Requested{}, ErrOthersRecords
	case len(out.Positions) == 0:
		return out, nil
	}
	open, err := e.Requests(ctx)
	if err != nil {
		return Requested{}, err
	}
	var before *Requested
	if out.Positions, before = notAsked(out.Positions, open); len(out.Positions) == 0 {
		before.Others = out.Others
		last, err := e.cfg.Log.Last(ctx) // whoever asked before may still be waiting for the views
		if err != nil {
			return *before, fmt.Errorf("erasure: %w", err)
		}
		return *before, e.awaitViews(ctx, last)
	}
	if len(open) >= maxRequests {
		return Requested{}, ErrManyRequests
	}
	out.Records = len(out.Positions)
	var drafts []events.Draft
	for part := range slices.Chunk(out.Positions, perEvent) {
		ids, err := e.rowsAt(ctx, part)
		if err != nil {
			return out, err
		}
		out.Rows = append(out.Rows, ids...)
		drafts = append(drafts, events.Draft{ID: e.cfg.NewID(), OccurredAt: out.At, Event: events.ForgetRequested{
			Request: out.ID, Positions: slices.Clone(part), IDs: ids, Writer: by,
		}})
	}
	records, err := eventlog.AppendEnd(ctx, e.cfg.Log, events.Daemon, drafts...)
	if err != nil {
		return out, fmt.Errorf("erasure: record a request: %w", err)
	}
	out.Position = records[0].Position
	return out, errors.Join(e.countRequests(ctx), e.awaitViews(ctx, records[len(records)-1].Position))
}

// notAsked leaves out of positions what open requests name, and returns the first request that names one of them.
func notAsked(positions []events.Position, open []Requested) (left []events.Position, before *Requested) {
	asked := map[events.Position]*Requested{}
	for i := range open {
		for _, p := range open[i].Positions {
			asked[p] = &open[i]
		}
	}
	for _, p := range positions {
		switch r := asked[p]; {
		case r == nil:
			left = append(left, p)
		case before == nil:
			before = r
		}
	}
	return left, before
}

// rowsAt are the ids of the rows that records made.
func (e *Eraser) rowsAt(ctx context.Context, positions []events.Position) (ids []events.ID, err error) {
	for _, p := range positions {
		r, err := e.cfg.Log.Get(ctx, p)
		if err != nil {
			return nil, err
		}
		id, err := rowID(r)
		if err != nil {
			return nil, err
		}
		if id != (events.ID{}) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Requests lists the open requests, oldest first; never nil. Errors are those of the log.
func (e *Eraser) Requests(ctx context.Context) ([]Requested, error) {
	open := []Requested{}
	for r, err := range e.cfg.Log.Stream(ctx, events.Daemon, 1) {
		if err != nil {
			return nil, fmt.Errorf("erasure: read requests: %w", err)
		}
		if r.Kind != events.KindForgetRequested && r.Kind != events.KindForgetSettled {
			continue
		}
		says, err := said(r)
		if err != nil {
			return nil, err
		}
		switch says := says.(type) {
		case events.ForgetSettled:
			open = slices.DeleteFunc(open, func(r Requested) bool { return r.ID == says.Request })
		case events.ForgetRequested:
			n := slices.IndexFunc(open, func(r Requested) bool { return r.ID == says.Request })
			if n < 0 {
				n = len(open)
				open = append(open, Requested{
					ID: says.Request, Position: r.Position, At: r.OccurredAt, Expires: r.OccurredAt.AddDate(0, 0, requestDays),
					Writer: says.Writer, Rows: []events.ID{},
				})
			}
			open[n].Rows = append(open[n].Rows, says.IDs...)
			open[n].Positions = append(open[n].Positions, says.Positions...)
			open[n].Records = len(open[n].Positions)
		}
	}
	return open, nil
}

// Settle ends an open request: it was approved, and is erased by now, or its rows are shown again. The error is ErrNoRequest where none
// of that id is open, or that of recording.
func (e *Eraser) Settle(ctx context.Context, id events.ID, outcome events.SettleOutcome, by events.Writer) (events.Position, error) {
	open, err := e.Requests(ctx)
	if err != nil {
		return 0, err
	}
	if !slices.ContainsFunc(open, func(r Requested) bool { return r.ID == id }) {
		return 0, ErrNoRequest
	}
	records, err := eventlog.AppendEnd(ctx, e.cfg.Log, events.Daemon, events.Draft{
		ID: e.cfg.NewID(), OccurredAt: e.cfg.Now(), Event: events.ForgetSettled{Request: id, Outcome: outcome, Writer: by},
	})
	if err != nil {
		return 0, fmt.Errorf("erasure: settle a request: %w", err)
	}
	return records[0].Position, e.countRequests(ctx)
}

// expire settles requests that nobody answered for too long, and counts those that are open.
func (e *Eraser) expire(ctx context.Context) error {
	open, err := e.Requests(ctx)
	if err != nil {
		return err
	}
	for _, r := range open {
		if e.cfg.Now().Before(r.Expires) {
			continue
		}
		if _, err := e.Settle(ctx, r.ID, events.SettleExpired, ""); err != nil && !errors.Is(err, ErrNoRequest) {
			return err
		}
		e.cfg.Logger.Info("a request to forget has expired; its memory is shown again", "request", r.ID, "rows", len(r.Rows))
	}
	return e.countRequests(ctx)
}

// countRequests notes how many requests are open, for Status.
func (e *Eraser) countRequests(ctx context.Context) error {
	open, err := e.Requests(ctx)
	if err == nil {
		e.note(func(s *Status) { s.Requests = len(open) })
	}
	return err
}
