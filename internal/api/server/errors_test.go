package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/vectors"
)

// TestFullDisk: whatever meets a full disk says so; views that stopped for it say that they did.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	for _, tc := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("eventlog: backup: %w", full), api.ProblemDiskFull},
		{fmt.Errorf("%w: %w", eventlog.ErrFailed, full), api.ProblemDiskFull},
		{fmt.Errorf("%w: %w", engine.ErrStopped, full), api.ProblemBehind},
	} {
		if p, known := problemFor(tc.err); p.Type != tc.want || !known {
			t.Errorf("%v: got %s, want %s", tc.err, p.Type, tc.want)
		}
	}
}

// TestErrorsSayWhatPasses: an error says itself whether a later try may fare better, and the status follows: 503 for what
// passes, and never otherwise.
func TestErrorsSayWhatPasses(t *testing.T) {
	t.Parallel()
	passes := []error{
		eventlog.ErrDiskFull, eventlog.ErrWrongVersion, eventlog.ErrClosed, eventlog.ErrFailed,
		actors.ErrBusy, actors.ErrStopped, engine.ErrClosed, engine.ErrStopped, engine.ErrDamaged, index.ErrClosed,
		vectors.ErrPaused, vectors.ErrNotRunning, vectors.ErrClosed, &vectors.Failure{Says: "503"},
		context.DeadlineExceeded, context.Canceled, capture.ErrSpoolWaits, notNow(api.ProblemBehind, "The views are behind", time.Second, ""),
		transient.Mark(errors.New("one that no table lists")),
	}
	stays := []error{
		&agents.SyntaxError{}, &agents.FieldError{Field: "cwd", Err: agents.ErrMissing}, &agents.FieldError{Field: "cwd", Err: agents.ErrNotAbsolute}, &http.MaxBytesError{Limit: 1},
		agents.ErrTooLarge, events.ErrTooLarge, capture.ErrBodyCut, agents.ErrUnknownAgent, agents.ErrNoTranscripts,
		recall.ErrBadID, recall.ErrBadQuery, &recall.AmbiguousError{}, recall.ErrNotYet, recall.ErrNotFound,
		engine.ErrUnknownView, engine.ErrNotFound, eventlog.ErrNotFound, actors.ErrNoProvider,
		session.ErrNotQuarantined, actors.ErrFaulted, actors.ErrParked, session.ErrNoInputs, errors.New("nobody foresaw it"),
		invalid("/x", "is wrong"), notFound("no such thing"),
	}
	for want, list := range map[bool][]error{true: passes, false: stays} {
		for _, err := range list {
			err = fmt.Errorf("api: capture: %w", err)
			p, _ := problemFor(err)
			if refusal.Of(err) != nil && reasonOf(err) != refusal.Reason(err) {
				t.Errorf("got two reasons, %q and %q", reasonOf(err), refusal.Reason(err))
			}
			if got := transient.Is(err); got != want {
				t.Errorf("%v: transient is %v, want %v", err, got, want)
			}
			if got := p.Status == http.StatusServiceUnavailable; got != want || p.Status == 0 || (p.RetryAfter > 0) != want {
				t.Errorf("%v: got %d, again in %v; transient is %v", err, p.Status, p.RetryAfter, want)
			}
		}
	}
}
