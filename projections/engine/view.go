package engine

import (
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

// View is one fold of the log. Its content is a function of the headers, of the payloads that must not be erased, and of
// the other payloads as far as no MemoryForgotten names their positions or ids: so a view that saw a payload before it
// was erased ends as one that did not.
type View interface {
	// Name is the view's for people, and its bucket's. It must never change.
	Name() string
	// Layout is what the view stores.
	Layout() Layout
	// Reads says which records it folds.
	Reads() Reads
	// Fold begins one slice of records on x. What it returns folds one record, in order; what that points to is another record after the
	// call. It is used by one goroutine, and keeps what it can in memory until the end of the slice: see Cache and Tx.AtEnd. Once x or a
	// record has an error the slice is given up, and nothing of it is stored.
	Fold(x *Tx) func(r *Record)
}

// Layout is what a view stores.
type Layout struct {
	Version int         // goes up with every change of what is stored or of how it is folded
	Tables  []TableSpec // the view's own; the first counts as its rows
}

// Reads says which records a view folds, beside those of this machine of the kinds that it knows.
type Reads struct {
	SkipsUnknown bool // kinds of a newer program cannot change what the view says
	Others       bool // what other machines recorded, too; else it says what this machine did, owes and pays
}

// Record is a record of the log, with what several views need of it computed once.
type Record struct {
	events.Record
	Session events.SessionID // zero: not a session's
	Part    events.SessionID // the same, of its log alone; see Origin.Part
	Home    events.Place     // where its own log has it; zero where there is one log alone
	origin  Origin

	decoded bool
	event   events.Event
	err     error
}

// NewRecord returns r as folds see it.
func (o Origin) NewRecord(r events.Record) Record {
	session, _ := r.Stream.Session()
	home := o.Place(r)
	return Record{Record: r, Session: session, Part: o.Part(session, home.Log), Home: home, origin: o}
}

// Root is what a folder is called here that r names.
func (r *Record) Root(path string) string { return r.origin.Root(r.Home.Log, path) }

// Key is what the key of a project is called here that r names.
func (r *Record) Key(key string) string { return r.origin.Key(r.Home.Log, key) }

// Err is events.ErrUnknownKind if a payload was asked for that has a schema of a newer program.
func (r *Record) Err() error {
	if errors.Is(r.err, events.ErrUnknownKind) {
		return r.err
	}
	return nil
}

// PayloadOf decodes r's payload. ok is false when it was erased or cannot be read, which a view takes as never known. r.Err tells
// apart one of a newer program.
func PayloadOf[E events.Event](r *Record) (e E, ok bool) {
	e, ok = r.payload().(E)
	return e, ok
}

// payload is r's payload, nil where PayloadOf gives none.
func (r *Record) payload() events.Event {
	if !r.decoded {
		r.event, r.err = r.Event()
		r.decoded = true
	}
	if r.err != nil {
		return nil
	}
	return r.event
}

// Handle hands r and its payload to f, unless there is none to be had.
func Handle[E events.Event](r *Record, f func(*Record, E)) {
	if e, ok := PayloadOf[E](r); ok {
		f(r, e)
	}
}

// TurnOf is the turn that r belongs to: its correlation, which outlives the payload, else what the payload says.
func TurnOf(r *Record, said events.ID) events.ID {
	if r.Correlation != (events.ID{}) {
		return r.Correlation
	}
	return said
}

// Turn is the turn that a record belongs to, where nothing else of the payload is needed: mostly it need not be decoded.
func (r *Record) Turn() events.ID {
	if r.Correlation != (events.ID{}) {
		return r.Correlation
	}
	e, _ := PayloadOf[events.Event](r)
	return TurnSaid(e)
}

// Tx is one view's part of a transaction. The first error that it meets stays, and the transaction is given up with it: from then
// on tables are empty to whoever reads them, and store nothing. So neither folds nor readers need to look for errors.
type Tx struct {
	Origin
	bucket     *bolt.Bucket
	seed       sumSeed            // of the view
	deleted    bool               // something was deleted in it
	lookups    map[string]*Cursor // by table; see lookup
	codec      *Codec
	arena      *arena                                             // to fold alone
	err        *error                                             // of all views of the transaction
	header     func(events.Position) (events.Header, bool, error) // of any record of the log; to fold alone
	machine    func(events.LogID) string                          // as Config.Machine; to read alone
	Checkpoint events.Position                                    // how far the view is; to read alone
	ends       []func()                                           // see AtEnd
}

// AtEnd has end called after the last record of the slice, behind what was given before it. Caches write what was changed then.
func (x *Tx) AtEnd(end func()) { x.ends = append(x.ends, end) }

// Machine is the name of the machine that a log is of, empty for this one. It is for readers: a name may change.
func (x *Tx) Machine(log events.LogID) string {
	if !x.Foreign(log) {
		return ""
	}
	return machineName(x.machine, log)
}

// machineName is what another machine is called, by its log.
func machineName(names func(events.LogID) string, log events.LogID) string {
	if names != nil {
		if name := names(log); name != "" {
			return name
		}
	}
	return log.String()[:nameless]
}

// nameless is how many digits of its log's id a machine is called by that has no name.
const nameless = 8

// Err is why the transaction is given up; nil: it goes on.
func (x *Tx) Err() error { return *x.err }

// Fail gives the transaction up because of an error, unless there is one before it. Nil is none.
func (x *Tx) Fail(err error) {
	if *x.err == nil {
		*x.err = err
	}
}

// TurnSaid is the turn that an event itself names.
func TurnSaid(e events.Event) events.ID {
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
