package api

import (
	"encoding/json"

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
}

// RecordsQuery chooses records, the oldest first.
type RecordsQuery struct {
	From    events.Position `param:"from" ofpage:"true"`   // 0 means the first
	Cursor  Cursor          `param:"cursor" ofpage:"true"` // NextCursor of the page before, in the place of From
	Limit   int             `param:"limit" default:"100" most:"1000" ofpage:"true"`
	Stream  events.StreamID `param:"stream"`                // empty: all; then From is still a position
	Payload bool            `param:"payload" ofpage:"true"` // with what happened
}

// Records is a stretch of the log.
type Records struct {
	Last       events.Position `json:"last"`                 // of the log
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
}

// LogExportQuery asks for the log as JSON lines: what eventlog.Import reads.
type LogExportQuery struct {
	From events.Position `param:"from"` // 0: the first
}
