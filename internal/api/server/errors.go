package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/vectors"
)

// invalid is a request that is wrong at one place.
func invalid(pointer, format string, args ...any) *api.Problem {
	return problemOf(refusal.At(pointer, format, args...))
}

func notFound(format string, args ...any) *api.Problem {
	return problemOf(refusal.Absent(format, args...))
}

func conflict(title, detail string) *api.Problem {
	return problemOf(&refusal.Error{Kind: refusal.Conflict, Title: title, Detail: detail})
}

func forbidden(detail string) *api.Problem {
	return &api.Problem{Type: api.ProblemForbidden, Title: "Not from there", Status: http.StatusForbidden, Detail: detail}
}

// unavailable is a refusal that a later try may not meet.
func unavailable(kind, title string, after time.Duration, detail string) *api.Problem {
	return &api.Problem{Type: kind, Title: title, Status: http.StatusServiceUnavailable, Detail: detail, RetryAfter: after}
}

// notNow is unavailable as an error: one that says of itself that it may pass.
func notNow(kind, title string, after time.Duration, detail string) error {
	return transientError{unavailable(kind, title, after, detail)}
}

type transientError struct{ *api.Problem }

// Transient reports true: see package transient.
func (transientError) Transient() bool { return true }

func (p transientError) Unwrap() error { return p.Problem }

// problemFor is the one place where errors become a status. known is false for an error that nobody foresaw.
func problemFor(err error) (p *api.Problem, known bool) {
	if errors.As(err, &p) {
		return p, true
	}
	for _, translate := range []func(error) *api.Problem{refused, absentThing, transientProblem} {
		if p := translate(err); p != nil {
			return p, true
		}
	}
	return problemOf(refusal.Unforeseen), false
}

// problemTypes are the types of what is refused.
var problemTypes = map[*refusal.Kind]string{
	refusal.Invalid: api.ProblemInvalid, refusal.Unknown: api.ProblemNotFound, refusal.TooLarge: api.ProblemTooLarge,
	refusal.Conflict: api.ProblemConflict, refusal.Faulted: api.ProblemFaulted, refusal.Parked: api.ProblemFaulted,
	refusal.Damaged: api.ProblemDamaged, refusal.Internal: api.ProblemInternal,
}

// refused is about what is refused for good.
func refused(err error) *api.Problem {
	r := refusal.Of(err)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		r = refusal.LargerThan(large.Limit)
	}
	if r == nil {
		return nil
	}
	return problemOf(r)
}

func problemOf(r *refusal.Error) *api.Problem {
	p := &api.Problem{Type: problemTypes[r.Kind], Title: cmp.Or(r.Title, r.Kind.Title), Status: r.Kind.Code}
	if r.Kind == refusal.Invalid {
		p.Errors = []api.FieldError{{Pointer: r.Field, Detail: r.Detail}}
	} else {
		p.Detail = r.Detail
	}
	return p
}

// reasonOf says why something is not done, without a word of what was asked. Of what refusal.Of knows it says what
// refusal.Reason does; it knows besides what only requests meet, such as a session that is not quarantined.
func reasonOf(err error) string {
	p, _ := problemFor(err)
	return p.Title + ": " + p.Error()
}

// absentThing is about what was named and is not there.
func absentThing(err error) *api.Problem {
	var several *recall.AmbiguousError
	switch {
	case errors.Is(err, recall.ErrBadID):
		return invalid("id", "is no id: give a handle such as m41, a UUID, or 8 or more of its first hex digits")
	case errors.Is(err, recall.ErrBadQuery):
		return invalid("", "this cannot be asked")
	case errors.As(err, &several):
		return ambiguous("row", "id", several.Choices)
	case errors.Is(err, recall.ErrNotYet):
		return notFound("it was not recorded yet at that position")
	case errors.Is(err, recall.ErrNoMemory):
		return notFound("that handle names a record of the log that is no memory: `cmemd log cat` shows it, `cmemd search` finds memory")
	case errors.Is(err, recall.ErrForgotten):
		return notFound("it was forgotten: its words are gone, and nothing brings them back")
	case errors.Is(err, recall.ErrNotFound):
		return notFound("no row has that id, or none was found")
	case errors.Is(err, engine.ErrUnknownView):
		return notFound("there is no such view")
	case errors.Is(err, engine.ErrNotFound), errors.Is(err, eventlog.ErrNotFound):
		return notFound("nothing is known by that name")
	case errors.Is(err, actors.ErrNoProvider):
		return invalid("/provider", "is not asked now: leave it out, or make it the provider in the settings")
	case errors.Is(err, actors.ErrNotPaused):
		return conflict("The provider is not paused", "there is nothing to resume: `cmemd status` says who is asked")
	case errors.Is(err, session.ErrNotQuarantined):
		return conflict("The session is not quarantined", "there is nothing to release")
	case errors.Is(err, curation.ErrWordsForgotten):
		return conflict("Words were forgotten meanwhile", "words were forgotten meanwhile, and what was compared may have held them: start it again")
	}
	return nil
}

// transientProblem is about what may pass by itself, as the error says. A full disk comes before what it causes.
func transientProblem(err error) *api.Problem {
	switch {
	case !transient.Is(err):
		return nil
	case errors.Is(err, eventlog.ErrDiskFull), transient.IsFull(err) && !errors.Is(err, engine.ErrStopped):
		return unavailable(api.ProblemDiskFull, "The disk is nearly full", 30*time.Second, "nothing is taken until there is room")
	case errors.Is(err, eventlog.ErrWrongVersion):
		return unavailable(api.ProblemBusy, "The session moved meanwhile", time.Second, "")
	case errors.Is(err, capture.ErrSpoolWaits):
		return unavailable(api.ProblemBusy, "What hooks left in the spool is still being taken in", 5*time.Second, "")
	case errors.Is(err, actors.ErrBusy):
		return unavailable(api.ProblemBusy, "Too much is waiting", time.Second, "what was accepted before is still being written")
	case errors.Is(err, actors.ErrStopped), errors.Is(err, eventlog.ErrClosed), errors.Is(err, engine.ErrClosed),
		errors.Is(err, index.ErrClosed):
		return unavailable(api.ProblemStopping, "Not running", time.Second, "the daemon is starting or ending")
	case errors.Is(err, eventlog.ErrExchanged):
		return unavailable(api.ProblemExchanged, "The log was exchanged or moved", 5*time.Second,
			"the daemon ends as soon as it has kept what it had recorded in a file beside the log, which `cmemd status` names then")
	case errors.Is(err, eventlog.ErrFailed):
		return unavailable(api.ProblemStopping, "The log has failed", 5*time.Second, "the daemon ends and has to be started anew")
	case errors.Is(err, engine.ErrStopped):
		return unavailable(api.ProblemBehind, "The views have stopped", 30*time.Second,
			"`cmemd status` says why and when they try again; `cmemd projections rebuild` has them try at once")
	case errors.Is(err, engine.ErrDamaged):
		return unavailable(api.ProblemBehind, "The views are damaged", 5*time.Second, "they are being made anew; the log has all that was in them")
	case errors.Is(err, index.ErrRebuilding):
		return unavailable(api.ProblemBehind, "The search index is being rebuilt", 5*time.Second, "it was damaged; the log has all that was in it")
	case errors.Is(err, vectors.ErrPaused), isEmbeddingFailure(err):
		return unavailable(api.ProblemBusy, "The endpoint of embeddings fails", time.Minute, err.Error())
	case errors.Is(err, vectors.ErrNotRunning), errors.Is(err, vectors.ErrClosed):
		return unavailable(api.ProblemStopping, "Nothing makes vectors", 30*time.Second, "the cause is in the daemon's log file")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return unavailable(api.ProblemBusy, "It took too long", time.Second, "the time for this request is over")
	}
	return unavailable(api.ProblemBusy, "Not possible now", time.Second, "")
}

// isEmbeddingFailure reports whether an endpoint of embeddings has failed.
func isEmbeddingFailure(err error) bool {
	_, ok := errors.AsType[*vectors.Failure](err)
	return ok
}

// fail answers with the problem that err is. Who has gone already gets no answer.
func (s *dispatcher) fail(w http.ResponseWriter, r *http.Request, err error) {
	p, known := problemFor(err)
	if !known {
		s.logger.Error("request failed", "method", r.Method, "route", r.Pattern, "err", err)
	}
	writeProblem(w, p)
}

func writeProblem(w http.ResponseWriter, p *api.Problem) {
	h := w.Header()
	h.Set("Content-Type", api.ProblemType)
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(p.RetryAfter.Round(time.Second)/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="cmemd"`)
	}
	body, err := json.Marshal(p)
	if err != nil {
		body = nil // strings always encode
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

// writeJSON answers 200 with v, or with the status alone that v is. It is encoded before anything is sent, so that an error is still an
// error. What is asked for by GET has a tag, made of all that is answered: who has that answer gets a 304 instead.
func writeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	if status, ok := v.(api.Done); ok {
		w.WriteHeader(int(status))
		return nil
	}
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("api: encode the answer: %w", err)
	}
	h := w.Header()
	if r.Method == http.MethodGet {
		tag := tagOf(body)
		h.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // who has gone hears nothing
	return nil
}

// tagOf tells answers apart.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}
