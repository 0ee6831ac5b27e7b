package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// Scope says who may ask. Each one includes those before it.
type Scope int

// The scopes.
const (
	ScopeView   Scope = iota + 1 // reads memory and the log, and what the daemon is doing
	ScopeEdit                    // changes what is remembered
	ScopeOwn                     // what only the person's own programs do: captures, copies of the log, the daemon itself
	ScopeSocket                  // the same, and over the unix socket alone
)

// Endpoint is where a route is found, and who may ask there.
type Endpoint struct {
	Method string
	Path   string // with {names} as http.ServeMux has them
	Scope  Scope
}

// Pattern is the endpoint as http.ServeMux knows it.
func (e Endpoint) Pattern() string { return e.Method + " " + e.Path }

// Route is one thing that can be asked and is answered at once. The fields of its query say what goes into the URL (tags param
// and path) and which values are taken (tags words, most, default, and a method Check); what has tags for JSON is the body.
type Route[Query, Answer any] Endpoint

// Work is a route that takes its time: progress comes before the answer.
type Work[Query, Answer any] Endpoint

// Stream is a route whose answer is read as it comes.
type Stream[Query any] Endpoint

// Invoker carries questions to a daemon: a client over a connection, or the server inside it.
type Invoker interface {
	// Invoke asks e for query, a value of its route's query type, and stores the answer where answer points. Progress may be
	// nil; it is not called at once by several. Errors are *Problem, ErrNotRunning, ErrCut, the context's, or those of the
	// connection. It is safe for concurrent use.
	Invoke(ctx context.Context, e Endpoint, query, answer any, progress func(Progress)) error
}

// ErrNotRunning is returned where no daemon listens. Its text says what to do.
var ErrNotRunning = errors.New("api: cmemd is not running; start it with `cmemd start`")

// ErrCut is an answer that ended before it was whole: the daemon stopped, or crashed, while it wrote.
var ErrCut = errors.New("api: the daemon's answer ended early")

// Call asks to for q. Errors are those of Invoke.
func (r Route[Query, Answer]) Call(ctx context.Context, to Invoker, q Query) (Answer, error) {
	var out Answer
	err := to.Invoke(ctx, Endpoint(r), q, &out, nil)
	return out, err
}

// Call asks to for q and returns when it is done. Progress may be nil. Errors are those of Invoke.
func (r Work[Query, Answer]) Call(ctx context.Context, to Invoker, q Query, progress func(Progress)) (Answer, error) {
	var out Answer
	err := to.Invoke(ctx, Endpoint(r), q, &out, progress)
	return out, err
}

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// The routes that are answered at once.
var (
	SearchRoute       = Route[SearchQuery, SearchResults]{get, "/v1/search", ScopeView}
	ContextRoute      = Route[ContextQuery, ContextAnswer]{get, "/v1/context", ScopeView}
	TimelineRoute     = Route[TimelineQuery, Timeline]{get, "/v1/timeline", ScopeView}
	WhyRoute          = Route[WhyQuery, Why]{get, "/v1/why/{id}", ScopeView}
	RowRoute          = Route[RowQuery, Row]{get, "/v1/observations/{id}", ScopeView}
	ObservationsRoute = Route[RowsQuery, Rows]{get, "/v1/observations", ScopeView} // those that are not found are named, not an error
	RowsRoute         = Route[RowsRequest, Rows]{post, "/v1/rows", ScopeView}      // the same for many
	RowsAliasRoute    = Route[RowsRequest, Rows]{post, "/v1/observations", ScopeView}
	InputsRoute       = Route[InputsQuery, Inputs]{get, "/v1/observations/{id}/inputs", ScopeView}
	SessionsRoute     = Route[SessionsQuery, Sessions]{get, "/v1/sessions", ScopeView}
	SessionRoute      = Route[IDQuery, SessionDetail]{get, "/v1/sessions/{id}", ScopeView}
	OutcomesRoute     = Route[OutcomesQuery, Outcomes]{get, "/v1/outcomes", ScopeView}
	StatusRoute       = Route[NoQuery, Status]{get, "/v1/status", ScopeView}
	UsageRoute        = Route[UsageQuery, Usage]{get, "/v1/usage", ScopeView}
	LogStatsRoute     = Route[NoQuery, LogStats]{get, "/v1/log/stats", ScopeView}
	RecordsRoute      = Route[RecordsQuery, Records]{get, "/v1/log/records", ScopeView}
	ProjectionsRoute  = Route[NoQuery, []View]{get, "/v1/projections", ScopeView}
	ProjectionRoute   = Route[InspectQuery, Inspection]{get, "/v1/projections/{name}", ScopeView}
	SaveRoute         = Route[Memory, Saved]{post, "/v1/memories", ScopeEdit}                  // on disk when it is answered
	UndoRoute         = Route[IDQuery, Undone]{post, "/v1/memories/{id}/undo", ScopeEdit}      // undone once more, it is as before
	ReleaseRoute      = Route[IDQuery, Released]{post, "/v1/sessions/{id}/release", ScopeEdit} // of a session that is free: 409
	StopRoute         = Route[StopQuery, Done]{post, "/v1/stop", ScopeOwn}                     // it has not ended yet when it answers
	RotateRoute       = Route[NoQuery, Done]{post, "/v1/token/rotate", ScopeSocket}
	HealthRoute       = Route[NoQuery, Alive]{get, "/healthz", ScopeView}
	ReadyRoute        = Route[ReadyQuery, Readiness]{get, "/readyz", ScopeView}
)

// The routes that take their time. What a request to forget or to observe again has begun is done whole, whoever waits.
var (
	VerifyRoute     = Work[NoQuery, Verified]{get, "/v1/log/verify", ScopeView}
	RebuildRoute    = Work[RebuildRequest, Rebuilt]{post, "/v1/projections/rebuild", ScopeOwn} // old views answer meanwhile
	ReobserveRoute  = Work[ReobserveRequest, Reobserved]{post, "/v1/reobserve", ScopeEdit}     // progress counts inputs, and comes with Wait
	RecheckRoute    = Work[RecheckRequest, Rechecked]{post, "/v1/recheck", ScopeEdit}          // progress counts claims
	ForgetRoute     = Work[ForgetRequest, Forgotten]{post, "/v1/forget", ScopeEdit}            // gone from every file when it is answered
	ForgetPlanRoute = Work[ForgetRequest, ForgetPlan](ForgetRoute)                             // with DryRun
)

// The routes whose answers are read, or whose bodies are written, as they come.
var (
	EventsRoute    = Stream[EventsQuery]{get, "/v1/events", ScopeView}
	ExportRoute    = Stream[ExportQuery]{get, "/v1/export", ScopeView}
	LogExportRoute = Stream[LogExportQuery]{get, "/v1/log/export", ScopeOwn}
	BackupRoute    = Stream[NoQuery]{get, "/v1/log/backup", ScopeOwn}
	MetricsRoute   = Stream[NoQuery]{get, "/metrics", ScopeView}
	HookRoute      = Stream[HookQuery]{post, "/v1/hooks/{agent}", ScopeOwn}
	IngestRoute    = Stream[IngestQuery]{post, "/v1/ingest/{agent}", ScopeOwn}
	ImportRoute    = Stream[ImportQuery]{post, "/v1/import/{source}", ScopeOwn}
)

// NoQuery is the query of a route that asks for nothing in particular.
type NoQuery struct{}

// IDQuery names one thing. A session's id is ours, or 8 hex digits or more of its beginning that no other has, or the agent's own;
// a memory's is its own or the beginning of it.
type IDQuery struct {
	ID string `path:"id"`
}

// StopQuery asks the daemon to end.
type StopQuery struct {
	Cause string `param:"cause"` // for its log file; at most 200 bytes
}

// Check implements the queries' method of that name. What could dress up a line of a log file is taken out.
func (q *StopQuery) Check(wrong Wrong) {
	q.Cause = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, q.Cause)
	if len(q.Cause) > 200 {
		wrong("cause", "is longer than 200 bytes")
	}
}

// ReadyQuery asks for the phase of the daemon's start.
type ReadyQuery struct {
	Always bool `param:"always"` // a daemon that is not ready is no error
}

// LogExportQuery asks for the log as JSON lines: what eventlog.Import reads.
type LogExportQuery struct {
	From events.Position `param:"from"` // 0: the first
}

// HookQuery names the agent whose hook posts.
type HookQuery struct {
	Agent string `path:"agent"`
}

// IngestQuery says whose transcript is sent. Path names it in the record; only what is sent is read.
type IngestQuery struct {
	Agent string `path:"agent"`
	Path  string `param:"path"`
}

// ImportQuery says what other memory entries come from.
type ImportQuery struct {
	Source string `path:"source"`
}

// Alive is the answer of a daemon that runs, whatever phase it is in.
type Alive struct {
	Alive bool `json:"alive"`
}

// Done is the answer of what returns nothing else: a status of HTTP.
type Done int

// RebuildRequest is the body that has views made anew.
type RebuildRequest struct {
	Names []string `json:"names"` // none: all, the search index included
}

// InspectQuery lays one view open.
type InspectQuery struct {
	Name  string `path:"name"`
	Key   string `param:"key"` // entries whose key is this or begins so
	Limit int    `param:"limit" default:"20" most:"1000"`
}
