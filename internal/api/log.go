package api

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
)

// The routes of the log.
var (
	LogStatsRoute  = Route[NoQuery, LogStats]{get, "/v1/log/stats", ScopeView, "the log's numbers"}
	RecordsRoute   = Route[RecordsQuery, Records]{get, "/v1/log/records", ScopeView, "a page of records"}
	EventsRoute    = Stream[EventsQuery]{get, "/v1/events", ScopeView, "records as they come (server-sent events; id is the position)"}
	LogExportRoute = Stream[LogExportQuery]{get, "/v1/log/export", ScopeOwn, "records as lines of JSON"}
	BackupRoute    = Stream[NoQuery]{get, "/v1/log/backup", ScopeOwn, "the log's file as it stands"}
)

// LogRecord is one record of the log for people and their tools.
type LogRecord struct {
	events.Header
	Chain   events.Hash     `json:"chain"`
	Erased  bool            `json:"erased,omitempty"`
	Event   json.RawMessage `json:"event,omitempty"`   // what happened, if it was asked for
	Problem string          `json:"problem,omitempty"` // why it was asked for and is not there
	// Beside Erased: another machine keeps what happened.
	Withheld bool `json:"withheld,omitempty"`
}

// RecordsQuery chooses records, the oldest first.
type RecordsQuery struct {
	From   events.Position `param:"from" ofpage:"true"`   // 0 means the first
	At     time.Time       `param:"at" ofpage:"true"`     // what was recorded from then on, in the place of From
	Before events.Position `param:"before" ofpage:"true"` // those that stand last before it, in the place of From; 0: no such
	Cursor Cursor          `param:"cursor" ofpage:"true"` // NextCursor of the page before, in the place of From
	Limit  int             `param:"limit" default:"100" most:"1000" ofpage:"true"`
	Stream events.StreamID `param:"stream"` // empty: all; then From is still a position
	// With commas between; empty: all.
	Kinds   string `param:"kinds"`
	Payload bool   `param:"payload" ofpage:"true"` // with what happened
	// Only this machine's log, with the positions that it has there; else records of other machines that are here stand among them.
	Own bool `param:"own"`
}

// Check implements the queries' method of that name.
func (q *RecordsQuery) Check(wrong Wrong) {
	places := 0
	for _, given := range []bool{q.From != 0, !q.At.IsZero(), q.Before != 0, !q.Cursor.IsZero()} {
		if given {
			places++
		}
	}
	switch {
	case places > 1:
		wrong("from", "is one of from, at, before and cursor: give one")
	case q.Before != 0 && q.Payload:
		wrong("payload", "is not to be had with before: ask for from with the position of a record")
	}
	checkKinds(q.Kinds, wrong)
}

// checkKinds notes the first of kinds, with commas between, that is none: no record would ever be of it.
func checkKinds(kinds string, wrong Wrong) {
	for kind := range strings.SplitSeq(kinds, ",") {
		if _, known := events.Kind(kind).Traits(); !known && kind != "" {
			wrong("kinds", "%q is no kind of event; such are tool_used and memory_saved", kind)
			return
		}
	}
}

// Records is a stretch of the log. Where few are of the kinds or the stream, a page may hold fewer than there are, and lead on.
type Records struct {
	Log        events.LogID    `json:"log,omitzero"`         // which log it is: another one has another; empty: it has no record
	Last       events.Position `json:"last"`                 // of the log
	Prev       events.Position `json:"prev,omitempty"`       // Before of the page before, where Before was asked; 0: the beginning was reached
	Next       events.Position `json:"next"`                 // where to go on; 0: the end was reached
	Records    []LogRecord     `json:"records"`              // never null
	NextCursor Cursor          `json:"next_cursor,omitzero"` // the next page; none: there is no more
}

// EventsQuery says what to follow.
type EventsQuery struct {
	After   events.Position `param:"after"`   // the last position that is known already; 0: from the first
	Tail    bool            `param:"tail"`    // only what comes from now on; After does not count then
	Stream  events.StreamID `param:"stream"`  // empty: all
	Kinds   string          `param:"kinds"`   // with commas between; empty: all
	Payload bool            `param:"payload"` // with what happened
	// First an event hello says which log it is, and where that ends: a Hello.
	Hello bool `param:"hello"`
}

// Check implements the queries' method of that name.
func (q *EventsQuery) Check(wrong Wrong) { checkKinds(q.Kinds, wrong) }

// Hello is what a stream of events begins with that was asked for it.
type Hello struct {
	Log  events.LogID    `json:"log,omitzero"` // as in Records
	Last events.Position `json:"last"`         // of the log, as the stream began
}

// LogExportQuery asks for the log as JSON lines: what eventlog.Import reads.
type LogExportQuery struct {
	From events.Position `param:"from"` // 0: the first
}
