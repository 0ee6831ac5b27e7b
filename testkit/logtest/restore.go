package logtest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// filled returns a log with two interleaved streams, a compressed payload, and one that is erased.
func filled(t *testing.T, open func(testing.TB) Log) (Log, []events.Record) {
	t.Helper()
	l := opened(t, open)
	appendTo(t, l, Session("a"), 0, "a1", strings.Repeat("words that repeat ", 200))
	appendTo(t, l, events.Daemon, 0, "d1")
	appendTo(t, l, Session("a"), 2, "a3", "a4")
	appendTo(t, l, events.Daemon, 1, "d2")
	if err := l.Erase(t.Context(), 4); err != nil {
		t.Fatalf("Erase: %v", err)
	}
	return l, Records(t, l)
}

func testRestore(t *testing.T, open func(testing.TB) Log) {
	_, want := filled(t, open)
	to := opened(t, open)
	if err := to.Restore(t.Context(), want[:2]...); err != nil {
		t.Fatalf("Restore: %v", err)
	}
	if err := to.Restore(t.Context(), want[2:]...); err != nil {
		t.Fatalf("Restore: %v", err)
	}
	equal(t, "records", Records(t, to), want, sameRecords)
	equal(t, "stored forms", stored(t, to), stored(t, mustRestore(t, open, want)))
	verify(t, to)
	appendTo(t, to, Session("a"), 4, "goes on")
	verify(t, to)
}

func mustRestore(t *testing.T, open func(testing.TB) Log, records []events.Record) Log {
	t.Helper()
	l := opened(t, open)
	if err := l.Restore(t.Context(), records...); err != nil {
		t.Fatalf("Restore: %v", err)
	}
	return l
}

// stored is the stored form of every record, in hexadecimal.
func stored(t *testing.T, l Log) []string {
	t.Helper()
	var all []string
	for _, r := range Records(t, l) {
		b, err := r.AppendBinary(nil)
		if err != nil {
			t.Fatalf("AppendBinary: %v", err)
		}
		all = append(all, fmt.Sprintf("%x", b))
	}
	return all
}

func testRestoreBad(t *testing.T, open func(testing.TB) Log) {
	_, good := filled(t, open)
	for name, spoil := range map[string]func(r []events.Record) []events.Record{
		"gap":                   func(r []events.Record) []events.Record { return append(r[:1], r[2:]...) },
		"not from 1":            func(r []events.Record) []events.Record { return r[1:] },
		"order":                 func(r []events.Record) []events.Record { r[2], r[3] = r[3], r[2]; return r },
		"twice":                 func(r []events.Record) []events.Record { return append(r, r...) },
		"version":               func(r []events.Record) []events.Record { r[4].Version++; return r },
		"back-pointer":          func(r []events.Record) []events.Record { r[4].Previous = 1; return r },
		"stream":                func(r []events.Record) []events.Record { r[2].Stream = "other"; return r },
		"chain":                 func(r []events.Record) []events.Record { r[3].Chain[5] ^= 1; return r },
		"kind":                  func(r []events.Record) []events.Record { r[3].Kind = "forged"; return r },
		"recorded at":           func(r []events.Record) []events.Record { r[5].RecordedAt = r[0].RecordedAt.Add(-1); return r },
		"payload hash":          func(r []events.Record) []events.Record { r[1].PayloadHash[0] ^= 1; return r },
		"stream without a name": func(r []events.Record) []events.Record { return append(r, named(r, "")) },
		"the log's own name":    func(r []events.Record) []events.Record { return append(r, named(r, "\x00format")) },
		"payload swapped":       func(r []events.Record) []events.Record { h := r[0].Header; r[0] = r[2]; r[0].Header = h; return r },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := opened(t, open)
			err := l.Restore(t.Context(), spoil(append([]events.Record(nil), good...))...)
			var corrupt *eventlog.CorruptError
			if !errors.As(err, &corrupt) || !errors.Is(err, events.ErrCorrupt) {
				t.Errorf("got error %v, want a CorruptError", err)
			}
			if last, err := l.Last(t.Context()); last != 0 || err != nil {
				t.Errorf("Last: got %d, %v: a refused restore left something", last, err)
			}
		})
	}
}

// named is a record that continues all of r, in a new stream of that name.
func named(r []events.Record, stream events.StreamID) events.Record {
	next := r[len(r)-1]
	next.Position++
	next.Stream = stream
	return next.Relay(1, 0, events.Hash{})
}

func testExport(t *testing.T, open func(testing.TB) Log) {
	from, want := filled(t, open)
	var out bytes.Buffer
	n, err := eventlog.Export(t.Context(), from, &out, 1)
	if n != uint64(len(want)) || err != nil {
		t.Fatalf("Export: got %d, %v", n, err)
	}
	to := opened(t, open)
	n, err = eventlog.Import(t.Context(), to, bytes.NewReader(out.Bytes()))
	if n != uint64(len(want)) || err != nil {
		t.Fatalf("Import: got %d, %v", n, err)
	}
	equal(t, "records", Records(t, to), want, sameRecords)
	equal(t, "stored forms", stored(t, to), stored(t, from))
	verify(t, to)
	_, err = eventlog.Import(t.Context(), to, bytes.NewReader(out.Bytes()))
	wantErr(t, "Import into a log with records", err, eventlog.ErrNotEmpty)

	out.Reset()
	if n, err := eventlog.Export(t.Context(), from, &out, 5); n != 2 || err != nil {
		t.Fatalf("Export from 5: got %d, %v", n, err)
	}
	_, err = eventlog.Import(t.Context(), opened(t, open), &out)
	wantErr(t, "Import of a part", err, events.ErrCorrupt)
}

// testImportBad spoils lines of an export: what was whole before stays, and the error names the line.
func testImportBad(t *testing.T, open func(testing.TB) Log) {
	from, _ := filled(t, open)
	var out bytes.Buffer
	if _, err := eventlog.Export(t.Context(), from, &out, 1); err != nil {
		t.Fatalf("Export: %v", err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(out.String()), "\n") // the head, six records, the end
	for name, test := range map[string]struct {
		text string
		kept uint64
		line int // 0: ErrTruncated
	}{
		"empty":              {"", 0, 0},
		"head only":          {lines[0], 0, 0},
		"no export":          {"{}\n", 0, 1},
		"newer export":       {`{"cmemd_log":2}` + "\n", 0, 1},
		"cut between lines":  {strings.Join(lines[:4], ""), 3, 0},
		"cut in a line":      {strings.Join(lines[:4], "") + lines[4][:len(lines[4])/2], 3, 5},
		"a line missing":     {strings.Join(lines[:3], "") + strings.Join(lines[4:], ""), 2, 4},
		"a line twice":       {strings.Join(lines[:3], "") + lines[2], 2, 4},
		"garbage":            {strings.Join(lines[:2], "") + "garbage\n", 1, 3},
		"no record":          {strings.Join(lines[:2], "") + "{}\n", 1, 3},
		"a wrong count":      {strings.Join(lines[:7], "") + `{"records":7}`, 6, 8},
		"more after the end": {strings.Join(lines, "") + "\n{}\n", 6, 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := opened(t, open)
			n, err := eventlog.Import(t.Context(), l, strings.NewReader(test.text))
			var bad *eventlog.ImportError
			if errors.As(err, &bad) != (test.line > 0) || bad != nil && bad.Line != test.line {
				t.Errorf("got error %v, want one for line %d", err, test.line)
			}
			if test.line == 0 {
				wantErr(t, "Import", err, eventlog.ErrTruncated)
			}
			if last, _ := l.Last(t.Context()); n != test.kept || uint64(last) != test.kept {
				t.Errorf("kept %d, log has %d, want %d", n, last, test.kept)
			}
			verify(t, l)
		})
	}
}

// testCloseBusy closes a log while many append. Each append has either happened or returns ErrClosed.
func testCloseBusy(t *testing.T, open func(tb testing.TB, dir string) Log) {
	dir := t.TempDir()
	l := open(t, dir)
	const writers = 16
	var wg sync.WaitGroup
	var done [writers]events.Version
	started := make(chan struct{}, 1024)
	for w := range writers {
		wg.Go(func() {
			for v := events.Version(0); ; v++ {
				_, err := l.Append(t.Context(), Session(fmt.Sprint(w)), v, Draft("x"))
				if err != nil {
					wantErr(t, "Append", err, eventlog.ErrClosed)
					return
				}
				done[w] = v + 1
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 50 {
		<-started
	}
	if err := l.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wg.Wait()
	again := open(t, dir)
	defer again.Close()
	verify(t, again)
	for w, want := range done {
		if v, _, err := again.Head(t.Context(), Session(fmt.Sprint(w))); v != want || err != nil {
			t.Errorf("writer %d: got version %d, %v; %d were acknowledged", w, v, err, want)
		}
	}
}

func testReopen(t *testing.T, open func(tb testing.TB, dir string) Log) {
	dir := t.TempDir()
	var want []events.Record
	var versions events.Version
	for round := range 4 {
		l := open(t, dir)
		equal(t, "records at the start", Records(t, l), want, sameRecords)
		appendTo(t, l, Session("a"), versions, numbered(fmt.Sprint(round), 300)...)
		appendTo(t, l, Session(fmt.Sprint(round)), 0, "own")
		versions += 300
		if err := l.Erase(t.Context(), events.Position(versions)-7); err != nil {
			t.Fatalf("Erase: %v", err)
		}
		want = Records(t, l)
		verify(t, l)
		if err := l.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
}

// full is a writer that takes only so many bytes.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	f.left -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

var errFull = errors.New("full")

func testExportFails(t *testing.T, open func(testing.TB) Log) {
	l, _ := filled(t, open)
	_, err := eventlog.Export(t.Context(), l, &full{left: 100}, 1)
	wantErr(t, "Export to a full disk", err, errFull)
}
