package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// The exit codes. They are a contract with scripts.
const (
	exitOK         = 0
	exitFailure    = 1 // something went wrong
	exitUsage      = 2 // the command line was wrong
	exitNotRunning = 3 // the command needs the daemon, and none runs
	exitNothing    = 4 // nothing was found
)

// An exitMeaning is an exit code in words.
type exitMeaning struct {
	Code  int    `json:"code"`
	Means string `json:"means"`
}

func exitMeanings() []exitMeaning {
	return []exitMeaning{
		{exitOK, "done"},
		{exitFailure, "failed; standard error says why and what to do next"},
		{exitUsage, "the command line is wrong; nothing was done"},
		{exitNotRunning, "no daemon runs; start one with `cmemd start`"},
		{exitNothing, "nothing was found"},
	}
}

const exitNote = "`cmemd status` ends with 3 when no daemon runs. `cmemd hook` always ends with 0: memory never breaks an agent."

func exitHelp() string {
	var text strings.Builder
	text.WriteString("Every command ends with one of these codes:\n\n")
	for _, m := range exitMeanings() {
		fmt.Fprintf(&text, "  %d  %s\n", m.Code, m.Means)
	}
	return text.String() + "\n" + exitNote
}

// errNothing is an answer without a row. It is wrapped with what was looked for.
var errNothing = errors.New("nothing found")

// A reportedError is one that the JSON document on standard output tells already.
type reportedError struct{ err error }

func (e *reportedError) Error() string { return e.err.Error() }
func (e *reportedError) Unwrap() error { return e.err }

// Reported is err, which complain passes over where a JSON document on standard output has said it.
func (a *app) Reported(err error) error {
	if a.JSON && err != nil {
		return &reportedError{err}
	}
	return err
}

// An adviceError is an error with its own next step.
type adviceError struct {
	err  error
	next string
}

func (e *adviceError) Error() string { return e.err.Error() }
func (e *adviceError) Unwrap() error { return e.err }

// advise adds to err what to do next.
func advise(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &adviceError{err: err, next: fmt.Sprintf(format, args...)}
}

func exitCode(err error) int {
	var usage *usageError
	var problem *api.Problem
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, api.ErrNotRunning), errors.Is(err, errNoService):
		return exitNotRunning
	case errors.Is(err, errNothing), errors.As(err, &problem) && problem.Type == api.ProblemNotFound:
		return exitNothing
	}
	return exitFailure
}

// complain says on standard error what went wrong and what to do next.
func (a *app) complain(err error) {
	var told *reportedError
	if err == nil || errors.As(err, &told) {
		return
	}
	message, next := describe(err), nextStep(err)
	if a.JSON {
		out := map[string]any{"error": message, "exit": exitCode(err)}
		if next != "" {
			out["next"] = next
		}
		_ = json.NewEncoder(a.err).Encode(out) // there is nobody left to tell
		return
	}
	fmt.Fprintf(a.err, "cmemd: %s\n", message)
	if next != "" {
		fmt.Fprintf(a.err, "  next: %s\n", next)
	}
}

// describe is the error in a person's words: without the names of packages in front.
func describe(err error) string {
	switch {
	case errors.Is(err, api.ErrNotRunning):
		return "cmemd is not running"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	text := err.Error()
	for _, p := range []string{"api: ", "eventlog: ", "relay: ", "projections: ", "index: ", "actors: ", "replay: ", "policy: ", "observer: ", "install: ", "claudemem: "} {
		text = strings.TrimPrefix(text, p)
	}
	return visible(strings.ReplaceAll(text, context.DeadlineExceeded.Error(), "no answer in time"))
}

// nextStep says what a person can do about err; nothing where err says it itself.
func nextStep(err error) string {
	var advice *adviceError
	var usage *usageError
	var locked *eventlog.LockedError
	var problem *api.Problem
	switch {
	case errors.As(err, &advice):
		return advice.next
	case errors.As(err, &usage):
		return fmt.Sprintf("`%s --help` shows how it is called", usage.command)
	case errors.Is(err, api.ErrNotRunning):
		return "start it with `cmemd start`"
	case errors.Is(err, api.ErrCut):
		return "see `cmemd status` and `cmemd logs`, then try again"
	case errors.As(err, &locked):
		return "if that is a daemon, stop it with `cmemd stop`"
	case errors.Is(err, eventlog.ErrNewerFormat):
		return "use the cmemd that wrote it, or a newer one; this one has changed nothing"
	case errors.Is(err, events.ErrCorrupt), errors.Is(err, eventlog.ErrNotLog):
		return "nothing was changed; put a backup in its place, or move the file away to begin anew"
	case errors.As(err, &problem):
		return problemStep(problem)
	}
	return ""
}

func problemStep(p *api.Problem) string {
	switch p.Type {
	case api.ProblemBusy, api.ProblemBehind, api.ProblemStarting:
		return fmt.Sprintf("try again in %s", max(p.RetryAfter, time.Second))
	case api.ProblemAmbiguous:
		return "give more of the id"
	case api.ProblemDiskFull:
		return "make room on the disk; hooks keep what they report in the spool meanwhile"
	case api.ProblemFaulted, api.ProblemInternal:
		return "`cmemd logs` says more"
	case api.ProblemStopping:
		return "start it again with `cmemd start`"
	}
	return ""
}

// errNoService is a service that does not run. It ends with the code that `cmemd status` has for no daemon.
var errNoService = errors.New("the system does not run the daemon")
