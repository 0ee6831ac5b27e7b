package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

// wrongArgument is an argument that the schema lets through and that means nothing, with the next step.
type wrongArgument struct{ says, next string }

func (e *wrongArgument) Error() string { return e.says }

// failure is an error as a tool's result tells it: what is the matter, and what to do next.
func failure(err error) string {
	says, next := explain(err)
	if next == "" {
		return says
	}
	return says + "\nNext: " + next
}

func explain(err error) (says, next string) {
	var wrong *wrongArgument
	var problem *api.Problem
	switch {
	case errors.As(err, &wrong):
		return wrong.says, wrong.next
	case errors.Is(err, api.ErrNotRunning):
		return "Memory is not available: " + plainly(err), "go on without it; the user can run `cmemd start`, and `cmemd doctor` says what is wrong."
	case errors.Is(err, api.ErrNoAnswer):
		return "Memory is not available: " + plainly(err), "go on without it; the user can end a daemon that hangs with `cmemd stop --kill`."
	case errors.Is(err, api.ErrCut):
		return "The daemon stopped while it answered.", "try once more."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "It took too long.", "ask for less, or try once more; `cmemd status` says how the daemon is doing."
	case errors.As(err, &problem):
		return oneLine(problem.Error(), maxFailure), problemStep(problem)
	}
	return "It failed: " + plainly(err), "go on without it; `cmemd logs` may say more."
}

// maxFailure is how much of an error is shown, in characters.
const maxFailure = 600

// plainly is an error on one line. Its words are shown, and never looked at.
func plainly(err error) string { return oneLine(err.Error(), maxFailure) }

// problemStep says what a model can do about a refusal.
func problemStep(p *api.Problem) string {
	switch p.Type {
	case api.ProblemInvalid:
		return "correct that argument and call again."
	case api.ProblemNotFound:
		return "handles come from search, timeline and injected memory: search for it by its words."
	case api.ProblemAmbiguous:
		return "give more of the id: one of those above."
	case api.ProblemBusy, api.ProblemBehind, api.ProblemStarting, api.ProblemStopping, api.ProblemExchanged:
		return fmt.Sprintf("try again in %s.", max(p.RetryAfter, time.Second).Round(time.Second))
	case api.ProblemDiskFull:
		return "nothing can be written until the user makes room on the disk; reading works."
	case api.ProblemForbidden:
		return "go on without it; only the user can allow it."
	case api.ProblemConflict, api.ProblemTooLarge, api.ProblemUnauthorized, api.ProblemMethod:
		return ""
	}
	return "go on without it; `cmemd logs` says more."
}
