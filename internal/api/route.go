package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

// Scope says who may ask. Each one includes those before it.
type Scope int

// The scopes.
const (
	ScopeAnybody Scope = iota + 1 // whoever reaches the daemon: that it lives, and how a browser is let in
	ScopeView                     // reads memory and the log, and what the daemon is doing
	ScopeEdit                     // changes what is remembered
	ScopeOwn                      // what only the person's own programs do: captures, copies of the log, the daemon itself
	ScopeSocket                   // the same, and over the unix socket alone
	ScopePerson                   // what the person alone decides, in a terminal of theirs or on the page: never an agent
)

// scopeNames are the scopes' names, from none on.
var scopeNames = []string{"", "anybody", "view", "edit", "own", "socket", "person"}

// String is the scope's name.
func (s Scope) String() string { return scopeNames[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Scope) UnmarshalText(text []byte) error {
	i := slices.Index(scopeNames, string(text))
	if i <= 0 {
		return errors.New("api: no scope")
	}
	*s = Scope(i)
	return nil
}

// Endpoint is where a route is found, and who may ask there.
type Endpoint struct {
	Method string
	Path   string // with {names} as http.ServeMux has them
	Scope  Scope
	Doc    string // one line: what it answers, or does
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
	// nil; it is not called at once by several. Errors are *Problem, ErrNotRunning, ErrNoAnswer, ErrCut, the context's, or those of the
	// connection. It is safe for concurrent use.
	Invoke(ctx context.Context, e Endpoint, query, answer any, progress func(Progress)) error
}

// ErrNotRunning is returned where no daemon listens. Its text says what to do.
var ErrNotRunning = errors.New("api: cmemd is not running; start it with `cmemd start`")

// ErrNoAnswer is returned where a daemon listens and says nothing for five seconds, not even that it is there: it hangs.
var ErrNoAnswer = errors.New("api: the daemon has not answered for 5s")

// ErrStopped is a stream of events that the daemon ended: it stops.
var ErrStopped = errors.New("api: the daemon stopped")

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

// IdempotencyHeader is the header by which a call that changes something is done once, however often it is sent: a word of the caller's
// own, such as a UUID, that goes with no other request of theirs. For a day, and as long as the daemon runs, who sends the same once
// more is answered as before.
const IdempotencyHeader = "Idempotency-Key"

// What a route's value says of it besides is short.
const (
	get  = http.MethodGet
	post = http.MethodPost
	del  = http.MethodDelete
)

// NoQuery is the query of a route that asks for nothing in particular.
type NoQuery struct{}

// AnyProject reports whether who keeps to some projects may ask without naming one: what is answered is of none.
func (NoQuery) AnyProject() bool { return true }

// IDQuery names one thing. A session's id is ours, or 8 hex digits or more of its beginning that no other has, or the agent's own;
// a memory's is its own or the beginning of it.
type IDQuery struct {
	ID string `path:"id"`
}

// AnyProject reports whether the query is about what it names by id, of whichever project that is.
func (IDQuery) AnyProject() bool { return true }

// Done is the answer of what returns nothing else: a status of HTTP.
type Done int

// Progress says how far a long piece of work has come.
type Progress struct {
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"` // 0: not known
}
