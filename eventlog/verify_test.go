package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// forged is a log that shows other records than it holds.
type forged struct {
	eventlog.Log
	records []events.Record
}

func (f forged) All(context.Context, events.Position) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for _, r := range f.records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// rechained gives r the chain that fits its header, as a forger would who has no later records to mind.
func rechained(prev events.Hash, r events.Record) events.Record {
	r.Chain = events.NextChain(prev, r.Header)
	return r
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		forge  func(r []events.Record) []events.Record
		at     events.Position
		reason string
	}{
		"untouched":       {func(r []events.Record) []events.Record { return r }, 0, ""},
		"a record gone":   {func(r []events.Record) []events.Record { return slices.Delete(r, 2, 3) }, 4, "position before is 2"},
		"the last gone":   {func(r []events.Record) []events.Record { return r[:5] }, 6, "log ends at 6"},
		"the first gone":  {func(r []events.Record) []events.Record { return r[1:] }, 2, "position before is 0"},
		"exchanged":       {func(r []events.Record) []events.Record { r[1], r[2] = r[2], r[1]; return r }, 3, "position before"},
		"another kind":    {func(r []events.Record) []events.Record { r[1].Kind = "x"; return r }, 2, "chain"},
		"another time":    {func(r []events.Record) []events.Record { r[1].OccurredAt = r[1].OccurredAt.Add(1); return r }, 2, "chain"},
		"another version": {func(r []events.Record) []events.Record { r[3].Version = 9; return r }, 4, "version 9 follows"},
		"another stream":  {func(r []events.Record) []events.Record { r[3].Stream = "x"; return r }, 4, "version 3 follows version 0"},
		"points wrong":    {func(r []events.Record) []events.Record { r[3].Previous = 1; return r }, 4, "points back to 1"},
		"time goes back": {func(r []events.Record) []events.Record {
			r[5].RecordedAt = r[0].RecordedAt.Add(-1)
			return r
		}, 6, "before its predecessor"},
		"rechained": {func(r []events.Record) []events.Record {
			r[1].Unobserved = true
			r[1] = rechained(r[0].Chain, r[1])
			return r
		}, 4, "chain"},
		"rechained last": {func(r []events.Record) []events.Record { r[5].Kind = "x"; r[5] = rechained(r[4].Chain, r[5]); return r }, 6, ""},
		"another payload": {func(r []events.Record) []events.Record {
			h, c := r[0].Header, r[0].Chain
			r[0] = r[2]
			r[0].Header, r[0].Chain = h, c
			return r
		}, 1, "payload"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := logtest.Open(t, eventlog.Config{})
			mustAppend(t, l, logtest.Session("a"), 0, "1", "2")
			mustAppend(t, l, events.Daemon, 0, "3")
			mustAppend(t, l, logtest.Session("a"), 2, "4", "5", "6")
			err := eventlog.Verify(t.Context(), forged{l, test.forge(allOf(t, l))}, nil)
			if test.at == 0 || name == "rechained last" { // nobody can tell the last record from a forged one
				if err != nil {
					t.Errorf("got %v, want no error", err)
				}
				return
			}
			var corrupt *eventlog.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Position != test.at || !strings.Contains(corrupt.Reason, test.reason) {
				t.Errorf("got %v, want position %d and %q", err, test.at, test.reason)
			}
		})
	}
}

// TestVerifyHeads spoils the heads of a file. Appending to a stream whose head is bad fails alone.
func TestVerifyHeads(t *testing.T) {
	t.Parallel()
	head := func(version, last byte) []byte {
		v := make([]byte, 48)
		v[7], v[15] = version, last
		return v
	}
	for name, v := range map[string][]byte{
		"gone": nil, "short": {1, 2, 3}, "version": head(1, 3), "position": head(2, 2), "beyond": head(2, 200),
		"zero": head(0, 0), "chain": head(2, 3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			l := openLog(t, path)
			mustAppend(t, l, "a", 0, "1")
			mustAppend(t, l, "b", 0, "2")
			mustAppend(t, l, "a", 1, "3")
			mustClose(t, l)
			rawUpdate(t, path, func(tx *bbolt.Tx) error {
				if v == nil {
					return tx.Bucket([]byte("head")).Delete([]byte("a"))
				}
				return tx.Bucket([]byte("head")).Put([]byte("a"), v)
			})
			l = openLog(t, path)
			err := eventlog.Verify(t.Context(), l, nil)
			var corrupt *eventlog.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Stream != "a" {
				t.Errorf("Verify: got %v, want a CorruptError for a", err)
			}
			if v != nil {
				_, err = l.Append(t.Context(), "a", 2, logtest.Draft("no"))
				if !errors.Is(err, events.ErrCorrupt) {
					t.Errorf("Append: got %v, want ErrCorrupt", err)
				}
			}
			mustAppend(t, l, "b", 1, "goes on")
		})
	}
}

// TestLostLeaf takes the last records out of a file: without the sequence of the bucket nobody would notice, and their
// positions would be given out again.
func TestLostLeaf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, path)
	mustAppend(t, l, "a", 0, "1", "2", "3")
	mustClose(t, l)
	rawUpdate(t, path, func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("log")).Delete([]byte{0, 0, 0, 0, 0, 0, 0, 3})
	})
	if _, err := eventlog.Open(path, eventlog.Config{}); !errors.Is(err, events.ErrCorrupt) {
		t.Errorf("Open: got %v, want ErrCorrupt", err)
	}
}

func TestVerifyProgress(t *testing.T) {
	t.Parallel()
	l := logtest.Open(t, eventlog.Config{})
	for i := range events.Version(5) {
		mustAppend(t, l, logtest.Session(fmt.Sprint(i)), 0, numbered("x", 500)...)
	}
	var got []uint64
	if err := eventlog.Verify(t.Context(), l, func(done, total uint64) { got = append(got, done, total) }); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	if want := []uint64{1000, 2500, 2000, 2500, 2500, 2500}; !slices.Equal(got, want) {
		t.Errorf("progress: got %v, want %v", got, want)
	}
}
