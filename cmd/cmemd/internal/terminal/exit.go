package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/transient"
)

// The exit codes. They are a contract with scripts.
const (
	ExitOK         = 0
	ExitFailure    = 1 // something went wrong
	ExitUsage      = 2 // the command line was wrong
	exitNotRunning = 3 // the command needs the daemon, and none runs
	ExitNothing    = 4 // nothing was found
)

// An exitMeaning is an exit code in words.
type exitMeaning struct {
	Code  int    `json:"code"`
	Means string `json:"means"`
}

func exitMeanings() []exitMeaning {
	return []exitMeaning{
		{ExitOK, "done"},
		{ExitFailure, "failed; standard error says why and what to do next"},
		{ExitUsage, "the command line is wrong; nothing was done"},
		{exitNotRunning, "no daemon runs; start one with `cmemd start`"},
		{ExitNothing, "nothing was found"},
	}
}

const exitNote = "`cmemd status` ends with 3 when no daemon runs. `cmemd hook` always ends with 0: memory never breaks an agent."

func ExitHelp() string {
	var text strings.Builder
	text.WriteString("Every command ends with one of these codes:\n\n")
	for _, m := range exitMeanings() {
		fmt.Fprintf(&text, "  %d  %s\n", m.Code, m.Means)
	}
	return text.String() + "\n" + exitNote
}

// ErrNothing is an answer without a row. It is wrapped with what was looked for.
var ErrNothing = errors.New("nothing found")

// A ReportedError is one that the JSON document on standard output tells already.
type ReportedError struct{ err error }

func (e *ReportedError) Error() string { return e.err.Error() }
func (e *ReportedError) Unwrap() error { return e.err }

// MarkReported is err, which Complain passes over where a JSON document on standard output has said it.
func (a *App) MarkReported(err error) error {
	if a.JSON && err != nil {
		return &ReportedError{err}
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

// Advise adds to err what to do next.
func Advise(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &adviceError{err: err, next: fmt.Sprintf(format, args...)}
}

func ExitCode(err error) int {
	var usage *UsageError
	var problem *api.Problem
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		return ExitUsage
	case errors.Is(err, api.ErrNotRunning), errors.Is(err, ErrNoService):
		return exitNotRunning
	case errors.Is(err, ErrNothing), errors.As(err, &problem) && problem.Type == api.ProblemNotFound:
		return ExitNothing
	}
	return ExitFailure
}

// Complain says on standard error what went wrong and what to do next.
func (a *App) Complain(err error) {
	var reported *ReportedError
	if err == nil || errors.As(err, &reported) {
		return
	}
	message, next := Describe(err), cmp.Or(NextStep(err), pathStep(err))
	if a.JSON {
		out := map[string]any{"error": message, "exit": ExitCode(err)}
		if next != "" {
			out["next"] = next
		}
		_ = json.NewEncoder(a.Err).Encode(out) // there is nobody left to tell
		return
	}
	fmt.Fprintf(a.Err, "cmemd: %s\n", message)
	if next != "" {
		fmt.Fprintf(a.Err, "  next: %s\n", next)
	}
}

// Describe is the error in a person's words: without the names of packages in front.
func Describe(err error) string {
	switch {
	case errors.Is(err, api.ErrNotRunning):
		return "cmemd is not running"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return Visible(strings.ReplaceAll(withoutPackage(err), context.DeadlineExceeded.Error(), "no answer in time"))
}

// packageNames is what errors of this module's packages begin with, before a colon. A test holds it to what is written there.
var packageNames = []string{
	"actors", "agents", "api", "capture", "claudecli", "claudemem", "curation", "embed", "erasure", "eventlog", "events", "folder",
	"full", "idempotency", "ignore", "importer", "index", "install", "jet", "jsonedit", "mcp", "model", "observer", "owned", "peer", "playback",
	"policy", "projections", "prompt", "recall", "redact", "relay", "release", "replay", "report", "rows", "salvage", "seal", "segment",
	"session", "share", "signin", "space", "spool", "sqlite", "store", "stream", "tomledit", "union", "vectors", "watch",
}

// withoutPackage is the text of err without the names of packages that it begins with. A problem begins with what it is about,
// which may be called like one of them.
func withoutPackage(err error) string {
	text := err.Error()
	var problem *api.Problem
	isProblem := errors.As(err, &problem)
	for !isProblem || !strings.HasPrefix(text, problem.Error()) {
		name, rest, found := strings.Cut(text, ": ")
		if !found || !slices.Contains(packageNames, name) {
			break
		}
		text = rest
	}
	return text
}

// NextStep says what a person can do about err; nothing where err says it itself.
func NextStep(err error) string {
	var advice *adviceError
	var usage *UsageError
	var locked *eventlog.LockedError
	var problem *api.Problem
	switch {
	case errors.As(err, &advice):
		return advice.next
	case errors.As(err, &usage):
		return fmt.Sprintf("`%s --help` shows how it is called", usage.command)
	case errors.Is(err, relay.ErrNoHome):
		return "let HOME name your own folder by its whole path; agents keep their settings there, and cmemd, without CMEMD_HOME, its own files"
	case errors.Is(err, relay.ErrSocketDir):
		return "run it as the user whose home that is, without sudo; where it is you, take the right away from others with chmod go-w"
	case errors.Is(err, api.ErrNotRunning):
		return "start it with `cmemd start`"
	case errors.Is(err, api.ErrStopped):
		return "`cmemd start` starts it, unless it runs again; then try again"
	case errors.Is(err, api.ErrCut):
		return "see `cmemd status` and `cmemd logs`, then try again"
	case errors.As(err, &locked):
		return "if that is a daemon, stop it with `cmemd stop`"
	case errors.Is(err, eventlog.ErrNewerFormat), errors.Is(err, install.ErrNewerRecord):
		return NewerStep
	case transient.IsFull(err), errors.Is(err, eventlog.ErrDiskFull):
		return "make room on the disk, then try again; no file is damaged by it"
	case errors.Is(err, syscall.ENOMEM):
		return "let this user have more memory (ulimit -v, ulimit -m, a container's limit), then try again; no file is damaged by it"
	case errors.Is(err, events.ErrCorrupt):
		return SalvageStep
	case errors.Is(err, eventlog.ErrNotLog):
		return "nothing was changed; put the log or a backup of it in its place; `cmemd log begin-anew` begins without it, and keeps that file"
	case errors.As(err, &problem):
		return problemStep(problem)
	}
	return ""
}

// pathStep says what to do where the system does not open a path that a command was given, and nobody knows more of it.
func pathStep(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "see whether that path is right: nothing is there"
	case errors.Is(err, fs.ErrPermission):
		return "see to the rights of that file and of its folder, or run it as the user whose they are"
	case errors.Is(err, syscall.EROFS):
		return "that disk can only be read: have it mounted for writing, or name a place on another one"
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return "see whether that path is right: it needs a file where a folder is, or a folder where a file is"
	}
	return ""
}

// NewerStep says what to do about what a newer cmemd wrote.
const NewerStep = "`cmemd upgrade` brings a newer cmemd, and `cmemd doctor` lists the copies that are here; or put a backup from before in its " +
	"place; this one has changed nothing"

// SalvageStep says what to do about a damaged log.
const SalvageStep = "`cmemd stop`, then `cmemd log salvage --in-place`: it keeps every record whose bytes are whole, and the damaged file beside; or put a backup in its place"

// ExchangedStep says what to do about a daemon whose log was exchanged.
const ExchangedStep = "wait until it has ended, then `cmemd start`; if it does not end, make room on the disk of its home, and do not kill it: " +
	"what it accepted is in the file that it has open, and nowhere else"

func problemStep(p *api.Problem) string {
	switch p.Type {
	case api.ProblemBusy, api.ProblemBehind, api.ProblemStarting:
		return fmt.Sprintf("try again in %s", max(p.RetryAfter, time.Second))
	case api.ProblemAmbiguous:
		return "give more of the id"
	case api.ProblemDiskFull:
		return "make room on the disk; hooks keep what they report in the spool meanwhile"
	case api.ProblemDamaged:
		return SalvageStep
	case api.ProblemFaulted, api.ProblemInternal:
		return "`cmemd logs` says more"
	case api.ProblemExchanged:
		return ExchangedStep
	case api.ProblemStopping:
		return "start it again with `cmemd start`"
	}
	return ""
}

// ErrNoService is a service that does not run. It ends with the code that `cmemd status` has for no daemon.
var ErrNoService = errors.New("the system does not run the daemon")
