package logtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Log is what is tested.
type Log = eventlog.Restorer

// Open opens an empty log with cfg, which is closed and removed at the end of the test. It outlives no loss of power.
func Open(tb interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}, cfg eventlog.Config) *eventlog.Bolt {
	tb.Helper()
	dir, err := os.MkdirTemp("", "log")
	if err != nil {
		tb.Fatal(err)
	}
	cfg.NoSync = true
	l, err := eventlog.Open(filepath.Join(dir, "log"), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = l.Close()
		_ = os.RemoveAll(dir)
	})
	return l
}

// Draft returns a small draft whose event carries text, with an id of its own.
func Draft(text string) events.Draft {
	return events.Draft{
		ID:         uuid.Must(uuid.NewV7()),
		OccurredAt: time.Unix(1_700_000_000, 123_456_789).UTC(),
		Event:      events.PromptSubmitted{Number: 1, Text: text, Size: len(text)},
	}
}

// Session returns the stream of the session that is called name.
func Session(name string) events.StreamID { return events.SessionIDOf("logtest", name).Stream() }

// opened opens a log and closes it at the end of the test.
func opened(t *testing.T, open func(testing.TB) Log) Log {
	t.Helper()
	l := open(t)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

// sameRecords compares headers, chains and whether payloads are erased.
var sameRecords = cmpopts.IgnoreUnexported(events.Record{})

// appendTo appends drafts with the given texts and fails the test if that fails.
func appendTo(tb testing.TB, l Log, stream events.StreamID, at events.Version, texts ...string) []events.Record {
	tb.Helper()
	drafts := make([]events.Draft, len(texts))
	for i, s := range texts {
		drafts[i] = Draft(s)
	}
	records, err := l.Append(tb.Context(), stream, at, drafts...)
	if err != nil {
		tb.Fatalf("Append to %s at %d: %v", stream, at, err)
	}
	return records
}

// tester is what a testing.TB and a rapid.T are.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// collect reads a sequence to its end.
func collect(tb tester, seq iter.Seq2[events.Record, error]) []events.Record {
	tb.Helper()
	var all []events.Record
	for r, err := range seq {
		if err != nil {
			tb.Fatalf("after %d records: %v", len(all), err)
		}
		all = append(all, r)
	}
	return all
}

// Records returns the whole log.
func Records(tb testing.TB, log eventlog.Log) []events.Record {
	tb.Helper()
	return collect(tb, log.All(tb.Context(), 1))
}

// Count is how many records of a kind the log holds.
func Count(tb testing.TB, log eventlog.Log, kind events.Kind) (n int) {
	tb.Helper()
	for _, r := range Records(tb, log) {
		if r.Kind == kind {
			n++
		}
	}
	return n
}

// lastError reads a sequence to its end and returns its error.
func lastError(seq iter.Seq2[events.Record, error]) (n int, err error) {
	for _, e := range seq {
		if e != nil {
			err = e
			continue
		}
		n++
	}
	return n, err
}

// text is what the event of r carries.
func text(tb testing.TB, r events.Record) string {
	tb.Helper()
	e, err := r.Event()
	if err != nil {
		tb.Fatalf("event at %d: %v", r.Position, err)
	}
	p, ok := e.(events.PromptSubmitted)
	if !ok {
		tb.Fatalf("event at %d is a %T", r.Position, e)
	}
	return p.Text
}

func texts(tb testing.TB, records []events.Record) []string {
	tb.Helper()
	all := make([]string, len(records))
	for i, r := range records {
		all[i] = text(tb, r)
	}
	return all
}

func equal[T any](tb tester, what string, got, want T, opts ...cmp.Option) {
	tb.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func wantErr(tb testing.TB, what string, err, want error) {
	tb.Helper()
	if !errors.Is(err, want) {
		tb.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

func verify(tb testing.TB, l Log) {
	tb.Helper()
	if err := eventlog.Verify(context.WithoutCancel(tb.Context()), l, nil); err != nil {
		tb.Errorf("Verify: %v", err)
	}
}

func numbered(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s %d", prefix, i)
	}
	return all
}

// Event is what a record says.
func Event(tb testing.TB, r events.Record) events.Event {
	tb.Helper()
	e, err := r.Event()
	if err != nil {
		tb.Fatal(err)
	}
	return e
}
