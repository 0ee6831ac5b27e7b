package eventlog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/race"
)

// damaged is a log's file that is spoiled in one place after the other, and what it held.
type damaged struct {
	path    string
	records []events.Record
	last    int // records of the last commit: they are gone where the newest meta page is damaged
	used    int64
	codec   *events.Codec
}

func newDamaged(t *testing.T) damaged {
	t.Helper()
	d := damaged{path: filepath.Join(t.TempDir(), "log"), last: 7, codec: events.NewCodec()}
	l := openLog(t, d.path)
	long := strings.Repeat("words that repeat ", 100)
	for i := range events.Version(20) {
		texts := append(numbered(fmt.Sprint(i), 18), long, long)
		mustAppend(t, l, logtest.Session("a"), i*20, texts...)
		mustAppend(t, l, logtest.Session(fmt.Sprint("b", i)), 0, "one")
	}
	if err := l.Erase(t.Context(), 5, 77); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, events.Daemon, 0, numbered("last", d.last)...)
	d.records = allOf(t, l)
	mustClose(t, l)
	for i, p := range readImage(t, d.path) {
		if binary.NativeEndian.Uint64(p) == uint64(i) && i > 0 {
			d.used = int64(i+1) * pageSize
		}
	}
	return d
}

// open opens the file to be spoiled. The test closes it at its end.
func (d damaged) open(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(d.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func allOf(t *testing.T, l eventlog.Log) []events.Record {
	t.Helper()
	var all []events.Record
	for r, err := range l.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// check opens the file and reads everything. It must fail with an error, or be right.
func (d damaged) check(t *testing.T, path, what string) (failed bool) {
	t.Helper()
	l, err := eventlog.Open(path, eventlog.Config{Codec: d.codec})
	if err != nil {
		if !errors.Is(err, events.ErrCorrupt) && !errors.Is(err, eventlog.ErrNotLog) && !errors.Is(err, eventlog.ErrNewerFormat) {
			t.Errorf("%s: Open: an error without a name: %v", what, err)
		}
		return true
	}
	defer mustClose(t, l)
	if err := eventlog.Verify(t.Context(), l, nil); err != nil {
		if !errors.Is(err, events.ErrCorrupt) && !errors.Is(err, events.ErrUnknownKind) {
			t.Errorf("%s: Verify: an error without a name: %v", what, err)
		}
		return true
	}
	got := allOf(t, l)
	want := d.records
	if len(got) == len(want)-d.last {
		want = want[:len(got)]
	}
	same := func(a, b events.Record) bool { return a.Chain == b.Chain && a.Erased == b.Erased } // Verify has checked the rest
	if !slices.EqualFunc(want, got, same) {
		t.Errorf("%s: Verify found nothing, yet the log has changed", what)
	}
	return false
}

// TestCutFile cuts a log's file at many places.
func TestCutFile(t *testing.T) {
	t.Parallel()
	d := newDamaged(t)
	failed := 0
	var sizes []int64
	for size := d.used - 1; size > 0; size -= 1 + d.used/60 {
		sizes = append(sizes, size, size/pageSize*pageSize)
	}
	sizes = race.Sample(sizes)
	used := readImage(t, d.path)[:d.used/pageSize]
	for _, size := range append(sizes, 1, 100, pageSize, 2*pageSize-1, 3*pageSize, 4*pageSize) {
		if size == 0 {
			continue // a fresh log
		}
		path := filepath.Join(t.TempDir(), "cut")
		used.write(t, path)
		truncate(t, path, size)
		if d.check(t, path, fmt.Sprint("cut at ", size)) {
			failed++
		}
	}
	if failed < len(sizes)/2 {
		t.Errorf("only %d of %d cuts were noticed", failed, len(sizes))
	}
	path := filepath.Join(t.TempDir(), "whole")
	used.write(t, path)
	if d.check(t, path, "cut behind the last page") {
		t.Error("a file without its unused end was refused")
	}
}

// TestFlippedBytes flips bytes of a log's file: in every page that is no leaf all bytes that say something, and some
// bytes of the leaves.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	d := newDamaged(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var offsets []int64
	for i, p := range readImage(t, d.path)[:d.used/pageSize] {
		start, flags, count := int64(i)*pageSize, p[8], int64(binary.NativeEndian.Uint16(p[10:]))
		switch {
		case flags == 0x02: // a leaf: its header, and somewhere
			offsets = append(offsets, start+random.Int64N(16), start+random.Int64N(pageSize), start+random.Int64N(pageSize))
			continue
		case flags == 0x04:
			count = 4 // a meta page has 80 bytes
		}
		for b := range min(16+16*count, 400) {
			offsets = append(offsets, start+b)
		}
	}
	f := d.open(t)
	failed := 0
	offsets = race.Sample(offsets)
	for _, off := range offsets {
		for _, mask := range []byte{1 << random.IntN(8), 0xFF} {
			flip(t, f, off, mask)
			if d.check(t, d.path, fmt.Sprintf("byte %d of page %d flipped by %#x", off%pageSize, off/pageSize, mask)) {
				failed++
			}
			flip(t, f, off, mask)
		}
	}
	if d.check(t, d.path, "flipped back") {
		t.Error("the file is bad after all flips were taken back")
	}
	t.Logf("%d of %d flips were noticed, the others changed nothing", failed, 2*len(offsets))
	if failed < len(offsets)/4 {
		t.Errorf("only %d of %d flips were noticed", failed, 2*len(offsets))
	}
}

// TestEmptiedLeaves has each leaf say that it holds nothing: also the root's, whose two buckets are all there is.
func TestEmptiedLeaves(t *testing.T) {
	t.Parallel()
	d := newDamaged(t)
	f := d.open(t)
	for _, page := range race.Sample(d.pages(t, 0x02)) {
		at := page*pageSize + 10
		count := make([]byte, 2)
		if _, err := f.ReadAt(count, at); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte{0, 0}, at); err != nil {
			t.Fatal(err)
		}
		d.check(t, d.path, fmt.Sprintf("page %d says that it is empty", page))
		if _, err := f.WriteAt(count, at); err != nil {
			t.Fatal(err)
		}
	}
	if d.check(t, d.path, "filled again") {
		t.Error("the file is bad after all leaves were filled again")
	}
}

// TestEmptyOnceWritten: a file in which something was committed is not begun anew where it has no bucket any more.
func TestEmptyOnceWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	mustAppend(t, l, events.Daemon, 0, "one")
	mustClose(t, l)
	rawUpdate(t, path, func(tx *bbolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("log")), tx.DeleteBucket([]byte("head")))
	})
	before := readImage(t, path)
	for _, open := range []func(string, eventlog.Config) (*eventlog.Bolt, error){eventlog.Open, eventlog.OpenReadOnly} {
		if l, err := open(path, eventlog.Config{}); !errors.Is(err, events.ErrCorrupt) {
			t.Errorf("got %v, %v, want ErrCorrupt", l, err)
		}
	}
	if !slices.EqualFunc(before, readImage(t, path), bytes.Equal) { // cmp.Equal takes seconds for a file of this length
		t.Error("the file was written to")
	}
}

func flip(t *testing.T, f *os.File, off int64, mask byte) {
	t.Helper()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, off); err != nil {
		t.Fatal(err)
	}
	b[0] ^= mask
	if _, err := f.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
}

// TestPagesUsedTwice spoils page numbers: a branch that points at itself, first or later, where following it would end
// the program with a stack overflow; and a free list that names a page in use, which the next commit would write over.
func TestPagesUsedTwice(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags byte  // of the page that is spoiled
		at    int64 // where in it a page number stands
	}{
		"first child": {0x01, 16 + 8}, "third child": {0x01, 16 + 2*16 + 8}, "free list": {0x10, 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDamaged(t)
			f := d.open(t)
			branch := d.pages(t, 0x01)[0]
			for _, page := range d.pages(t, test.flags) { // older ones are no longer part of the tree
				id := binary.NativeEndian.AppendUint64(nil, uint64(branch))
				if test.flags == 0x01 {
					id = binary.NativeEndian.AppendUint64(nil, uint64(page))
				}
				if _, err := f.WriteAt(id, page*pageSize+test.at); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := eventlog.Open(d.path, eventlog.Config{}); !errors.Is(err, events.ErrCorrupt) {
				t.Errorf("Open: got %v, want ErrCorrupt", err)
			}
		})
	}
}

// pages are the numbers of the pages with the given flags, the newest one of the tree among them.
func (d damaged) pages(t *testing.T, flags byte) []int64 {
	t.Helper()
	var all []int64
	for i, p := range readImage(t, d.path)[:d.used/pageSize] {
		if p[8] == flags && p[10] > 0 {
			all = append(all, int64(i))
		}
	}
	if len(all) == 0 {
		t.Fatalf("the log has no page with flags %#x", flags)
	}
	return all
}
