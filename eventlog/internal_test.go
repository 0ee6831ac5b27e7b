package eventlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
)

func FuzzHead(f *testing.F) {
	f.Add(head{Version: 3, Last: 9, Chain: events.Hash{1}}.appendTo(nil))
	f.Add(head{Version: 9, Last: 3}.appendTo(nil))
	f.Add(head{}.appendTo(nil))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHead("a", b)
		if err == nil && !bytes.Equal(h.appendTo(nil), b) {
			t.Errorf("%x is read as %+v", b, h)
		}
		if err == nil && (h.Version == 0 || uint64(h.Version) > uint64(h.Last)) {
			t.Errorf("a stream of %d records ends at %d", h.Version, h.Last)
		}
		if err != nil && !errors.Is(err, events.ErrCorrupt) {
			t.Errorf("%x: %v", b, err)
		}
	})
}

func TestHeadCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c headCache
	for i := range maxHeads + 10 {
		name := events.StreamID(binary.BigEndian.AppendUint32([]byte("s"), uint32(i)))
		c.merge(map[events.StreamID]head{name: {Version: 1, Last: events.Position(i + 1)}})
	}
	if n := len(c.heads); n > maxHeads {
		t.Errorf("the cache holds %d heads, at most %d", n, maxHeads)
	}
	if _, ok := c.get("s\x00\x01\x00\x09"); !ok {
		t.Error("the newest head is not cached")
	}
}

// TestArenaHoldsStoredForms: a record takes the room of its stored form, and not that of its payload before it was compressed or erased.
func TestArenaHoldsStoredForms(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "%d %0100d\n", i, i)
	}
	sealed, err := codec.Seal(events.Draft{ID: events.ID{1}, Event: events.PromptSubmitted{Text: text.String()}}, events.Salt{})
	if err != nil {
		t.Fatal(err)
	}
	whole := codec.Place(sealed, 1, events.Daemon, 1, 0, events.Hash{}, time.Unix(0, 0))
	for what, r := range map[string]events.Record{"compressed": whole, "erased": whole.Erase()} {
		var a arena
		if _, err := codec.Record(a.record(r)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if n := cap(a.buf); n > arenaChunk {
			t.Errorf("%s: %d bytes for a record of %d", what, n, len(a.buf))
		}
	}
}

// TestUnreadableFile: what the system says of a file that it does not read is no damage of the log.
func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l, err := Open(path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := os.OpenFile(path, os.O_WRONLY, 0) // so that each read fails
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var system *fs.PathError
	if err := prepare(l.db, file, path, false); !errors.As(err, &system) || errors.Is(err, events.ErrCorrupt) {
		t.Errorf("got %v, want the system's error", err)
	}
}

// TestNoTransactionIsHeld looks for open read transactions while a consumer works: one that is held makes the free list
// grow with every commit, and can block the writer for ever.
func TestNoTransactionIsHeld(t *testing.T) {
	t.Parallel()
	l, err := Open(filepath.Join(t.TempDir(), "log"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 5 {
		d := events.Draft{ID: events.ID{1}, Event: events.SessionClosed{Cause: "x"}}
		if _, err := AppendEnd(t.Context(), l, events.Daemon, d, d); err != nil {
			t.Fatal(err)
		}
	}
	for name, seq := range map[string]iter.Seq2[events.Record, error]{
		"All": l.All(t.Context(), 1), "Stream": l.Stream(t.Context(), events.Daemon, 1), "Follow": l.Follow(t.Context(), 1),
	} {
		for r, err := range seq {
			if n := l.db.Stats().OpenTxN; n != 0 || err != nil {
				t.Errorf("%s at %d: %d transactions are open, %v", name, r.Position, n, err)
			}
			if r.Position == 10 {
				break
			}
		}
	}
}

// TestPagesAreFull looks at how full the pages of records are: at bbolt's usual half the file would be twice as large.
func TestPagesAreFull(t *testing.T) {
	t.Parallel()
	l, err := Open(filepath.Join(t.TempDir(), "log"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := events.Draft{ID: events.ID{1}, Event: events.PromptSubmitted{Text: strings.Repeat("x", 60)}}
	for range 100 {
		if _, err := AppendEnd(t.Context(), l, events.Daemon, slices.Repeat([]events.Draft{d}, 20)...); err != nil {
			t.Fatal(err)
		}
	}
	err = l.view(func(tx *bbolt.Tx) error {
		if s := tx.Bucket(logBucket).Stats(); s.LeafInuse*100 < s.LeafAlloc*88 {
			t.Errorf("%d of %d bytes in use", s.LeafInuse, s.LeafAlloc)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
