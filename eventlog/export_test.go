package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// exported is the export of a small log of three streams with a long and an erased payload.
func exported(tb testing.TB) (from eventlog.Log, text string) {
	tb.Helper()
	l := logtest.Open(tb, eventlog.Config{})
	mustAppend(tb, l, logtest.Session("a"), 0, "1", strings.Repeat("long ", 300))
	mustAppend(tb, l, events.Daemon, 0, "2")
	mustAppend(tb, l, logtest.Session("b"), 0, "3")
	mustAppend(tb, l, logtest.Session("a"), 2, "4")
	if err := l.Erase(tb.Context(), 1); err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := eventlog.Export(tb.Context(), l, &out, 1); err != nil {
		tb.Fatal(err)
	}
	return l, out.String()
}

// read collects what an export holds, in stored form, and the error that ended it.
func read(ctx context.Context, r io.Reader) (records [][]byte, last error) {
	for r, err := range eventlog.ReadExport(ctx, r) {
		if err != nil {
			return records, err
		}
		b, err := r.AppendBinary(nil)
		if err != nil {
			return records, err
		}
		records = append(records, b)
	}
	return records, nil
}

func TestReadExport(t *testing.T) {
	t.Parallel()
	l, text := exported(t)
	var want [][]byte
	for r, err := range l.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		b, _ := r.AppendBinary(nil)
		want = append(want, b)
	}
	got, err := read(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("records (-log +export):\n%s", d)
	}
}

func TestReadExportOfPartsAndBadLines(t *testing.T) {
	t.Parallel()
	l, text := exported(t)
	var part bytes.Buffer
	if _, err := eventlog.Export(t.Context(), l, &part, 3); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(text, "\n")
	for name, test := range map[string]struct {
		text string
		kept int
		line int // 0: ErrTruncated
	}{
		"nothing":         {"", 0, 0},
		"cut":             {strings.Join(lines[:4], ""), 3, 0},
		"not from 1":      {part.String(), 0, 2},
		"a line missing":  {strings.Join(append(lines[:2:2], lines[3:]...), ""), 1, 3},
		"a line too many": {text + "{}\n", 5, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t.Context(), strings.NewReader(test.text))
			var bad *eventlog.ImportError
			if errors.As(err, &bad) != (test.line > 0) || bad != nil && bad.Line != test.line ||
				test.line == 0 && !errors.Is(err, eventlog.ErrTruncated) {
				t.Errorf("got error %v, want one for line %d", err, test.line)
			}
			if len(got) != test.kept {
				t.Errorf("got %d records before the error, want %d", len(got), test.kept)
			}
		})
	}
}

// errFull is what a disk without room answers.
var errFull = errors.New("no room")

// full takes nothing.
type full struct{ eventlog.Restorer }

func (full) Write([]byte) (int, error) { return 0, errFull }

func (full) Last(context.Context) (events.Position, error) { return 0, nil }

func (full) Restore(context.Context, ...events.Record) error { return errFull }

// TestNoRoomIsSaidOnce: an export and an import that find no room for their first part say so once, also where more parts follow.
func TestNoRoomIsSaidOnce(t *testing.T) {
	t.Parallel()
	l := logtest.Open(t, eventlog.Config{NoSync: true})
	for range 5 {
		drafts := make([]events.Draft, 1000)
		for i := range drafts {
			drafts[i] = logtest.Draft("words")
		}
		if _, err := eventlog.AppendEnd(t.Context(), l, events.Daemon, drafts...); err != nil {
			t.Fatal(err)
		}
	}
	var whole bytes.Buffer
	if _, err := eventlog.Export(t.Context(), l, &whole, 1); err != nil {
		t.Fatal(err)
	}
	_, exported := eventlog.Export(t.Context(), l, full{}, 1)
	_, imported := eventlog.Import(t.Context(), full{}, &whole)
	for name, err := range map[string]error{"export": exported, "import": imported} {
		if !errors.Is(err, errFull) || strings.Count(err.Error(), errFull.Error()) != 1 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestReadExportEndsEarly(t *testing.T) {
	t.Parallel()
	_, text := exported(t)
	n := 0
	for range eventlog.ReadExport(t.Context(), strings.NewReader(text)) {
		if n++; n == 2 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := read(ctx, strings.NewReader(text)); len(got) != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("under a context that is done: got %d records, %v", len(got), err)
	}
	broken := io.MultiReader(strings.NewReader(text[:len(text)/2]), brokenReader{})
	if _, err := read(t.Context(), broken); !errors.Is(err, errBroken) {
		t.Errorf("from a reader that breaks: got %v, want its error", err)
	}
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }
