package projections

import (
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// view is one fold of the log. Its content is a function of the headers, of the payloads that are not Forgettable, and of
// the other payloads as far as no MemoryForgotten names their positions or ids: so a view that saw a payload before it
// was erased ends as one that did not.
type view interface {
	name() string
	// version goes up with every change of what is stored or of how it is folded.
	version() int
	// tables are the view's own; the first counts as its rows.
	tables() []tableSpec
	// skipsUnknown reports whether kinds of a newer program cannot change what the view says.
	skipsUnknown() bool
	// fold begins one slice of records on x.
	fold(x *tx) fold
}

// fold applies one slice of records, in order, and keeps what it can in memory until flush.
type fold interface {
	apply(r *record) error
	flush() error
}

// record is a record of the log, with what several views need of it computed once.
type record struct {
	events.Record
	session events.SessionID // zero: not a session's

	decoded bool
	event   events.Event
	err     error
}

func newRecord(r events.Record) *record {
	session, _ := r.Stream.Session()
	return &record{Record: r, session: session}
}

// payloadOf decodes r's payload. ok is false when it was erased or cannot be read, which a view takes as never known.
// The error is events.ErrUnknownKind: a schema of a newer program.
func payloadOf[E events.Event](r *record) (e E, ok bool, err error) {
	if !r.decoded {
		r.event, r.err = r.Event()
		r.decoded = true
	}
	if errors.Is(r.err, events.ErrUnknownKind) {
		return e, false, r.err
	}
	e, ok = r.event.(E)
	return e, ok && r.err == nil, nil
}

// turnOf is the turn that r belongs to: its correlation, which outlives the payload, else what the payload says.
func turnOf(r *record, said events.ID) events.ID {
	if r.Correlation != (events.ID{}) {
		return r.Correlation
	}
	return said
}

// turn is turnOf where nothing else of the payload is needed: mostly it need not be decoded.
func (r *record) turn() (events.ID, error) {
	if r.Correlation != (events.ID{}) {
		return r.Correlation, nil
	}
	e, _, err := payloadOf[events.Event](r)
	return turnSaid(e), err
}

// tx is one view's part of a transaction.
type tx struct {
	bucket *bolt.Bucket
	codec  *codec
	header func(events.Position) (events.Header, bool, error) // of any record of the log; to fold alone
	point  events.Position                                    // how far the view is; to read alone
}

// turnSaid is the turn that an event itself names.
func turnSaid(e events.Event) events.ID {
	switch e := e.(type) {
	case events.TurnStarted:
		return e.Turn
	case events.TurnReceived:
		return e.Turn
	case events.TurnFailed:
		return e.Turn
	case events.OutputDropped:
		return e.Turn
	case events.OutputSkipped:
		return e.Turn
	case events.ObservationParsed:
		return e.Turn
	case events.SummaryParsed:
		return e.Turn
	}
	return events.ID{}
}
