package eventlog_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// secrets are texts, half of which are erased.
func secrets(n int) (texts []string, traces [][]byte) {
	for i := range n {
		texts = append(texts, fmt.Sprintf("secret %d of them %s", i, strings.Repeat("x", i%400)))
		traces = append(traces, fmt.Appendf(nil, "secret %d of them", i))
	}
	return texts, traces
}

// TestScrubDamagedLog damages a page of a log, erases what can be read of a stretch around it, and scrubs: what was erased is in no byte
// of the file, what was not is there still, and the newest state and the one before can both be read.
func TestScrubDamagedLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	texts, traces := secrets(300)
	mustAppend(t, l, logtest.Session("a"), 0, texts...)
	mustAppend(t, l, logtest.Session("b"), 0, "stays")
	mustClose(t, l)
	pages := readImage(t, path)
	bad := spoilLeaf(t, pages)
	pages.write(t, path)

	l = openLog(t, path)
	left := map[events.Position]bool{}
	log := eventlog.Readable(l, func(at events.Position) { left[at] = true })
	var at []events.Position
	for p := events.Position(1); p <= 200; p++ {
		at = append(at, p)
	}
	if err := log.Erase(t.Context(), at...); err != nil {
		t.Fatal(err)
	}
	if !left[bad] || left[1] || left[200] {
		t.Fatalf("left out: %v, the damaged page begins at %d", left, bad)
	}
	if found(t, path, traces[:1]) == 0 {
		t.Error("what was erased is gone before the scrub: this proves nothing")
	}
	if err := l.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"scrubbed", "opened again", "with the older state"} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range traces[:200] {
			if p := events.Position(i + 1); !left[p] && bytes.Contains(file, append(s, ' ')) {
				t.Errorf("%s: record %d is in the file", when, p)
			}
		}
		got := 0
		for r, err := range eventlog.Readable(l, nil).All(t.Context(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			if got++; r.Erased != (r.Position <= 200) {
				t.Errorf("%s: record %d is erased: %v", when, r.Position, r.Erased)
			}
		}
		if want := 301 - len(left); got != want {
			t.Errorf("%s: %d records can be read, want %d", when, got, want)
		}
		mustClose(t, l)
		if when == "opened again" {
			pages := readImage(t, path)
			newest := 0
			if binary.NativeEndian.Uint64(pages[1][64:]) > binary.NativeEndian.Uint64(pages[0][64:]) {
				newest = 1
			}
			pages[newest][30] ^= 1
			pages.write(t, path)
		}
		l = openLog(t, path)
	}
}

// TestScrubWhileServing scrubs a log that is appended to, erased from and read.
func TestScrubWhileServing(t *testing.T) {
	t.Parallel()
	l := tempLog(t)
	texts, traces := secrets(200)
	mustAppend(t, l, logtest.Session("a"), 0, texts...)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var busy sync.WaitGroup
	for w := range 3 {
		busy.Go(func() {
			for v := events.Version(0); ctx.Err() == nil; v++ {
				if _, err := l.Append(ctx, logtest.Session(fmt.Sprint(w)), v, logtest.Draft("x")); err != nil && ctx.Err() == nil {
					t.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	busy.Go(func() {
		for ctx.Err() == nil {
			for _, err := range l.All(ctx, 1) {
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("All: %v", err)
				}
			}
		}
	})
	for p := range events.Position(20) {
		if err := l.Erase(t.Context(), p*10+1); err != nil {
			t.Fatal(err)
		}
		if err := l.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := found(t, l.Path(), [][]byte{append(traces[p*10], ' ')}); n > 0 {
			t.Errorf("record %d is in the file", p*10+1)
		}
	}
	stop()
	busy.Wait()
	mustVerify(t, l)
}
