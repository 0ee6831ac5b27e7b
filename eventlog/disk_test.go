package eventlog_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestDiskFull has the disk run full and empty again: appends are refused, the log lives, erasing is allowed.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var free, asked atomic.Int64
		free.Store(1 << 40)
		l, err := eventlog.Open(filepath.Join(t.TempDir(), "log"), eventlog.Config{Free: func(string) (uint64, error) {
			asked.Add(1)
			return uint64(free.Load()), nil
		}})
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		defer mustClose(t, l)
		for i := range events.Version(100) {
			mustAppend(t, l, logtest.Session("a"), i, "x")
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the disk was asked %d times for 100 appends in no time, want once", n)
		}
		free.Store(64<<20 + 1)
		time.Sleep(2 * time.Second)
		_, err = l.Append(t.Context(), logtest.Session("a"), 100, logtest.Draft("no"))
		if !errors.Is(err, eventlog.ErrDiskFull) {
			t.Errorf("Append: got %v, want ErrDiskFull", err)
		}
		if err := l.Erase(t.Context(), 1); err != nil {
			t.Errorf("Erase: %v", err)
		}
		if v, _, err := l.Head(t.Context(), logtest.Session("a")); v != 100 || err != nil || l.Err() != nil {
			t.Errorf("Head: got %d, %v; Err: %v", v, err, l.Err())
		}
		free.Store(65 << 20)
		mustAppend(t, l, logtest.Session("a"), 100, "again") // a refusal is never remembered
		mustVerify(t, l)
	})
}

// TestDiskFullLarge has room for small appends and not for a large one in the same group.
func TestDiskFullLarge(t *testing.T) {
	t.Parallel()
	cfg := eventlog.Config{MinFree: 1 << 20, Free: func(string) (uint64, error) { return 4 << 20, nil }}
	l, err := eventlog.Open(filepath.Join(t.TempDir(), "log"), cfg)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer mustClose(t, l)
	large := events.PromptSubmitted{Text: noise(5 << 20)}
	_, err = l.Append(t.Context(), logtest.Session("a"), 0, events.Draft{ID: logtest.Draft("").ID, Event: large})
	if !errors.Is(err, eventlog.ErrDiskFull) {
		t.Errorf("Append of 5 MiB: got %v, want ErrDiskFull", err)
	}
	mustAppend(t, l, logtest.Session("a"), 0, "small")
}

// TestDiskFullOfWhatIsStored restores records whose payloads were large before they were compressed or erased: they need the room of their
// stored forms, as a copy of a log does that is made to give room back.
func TestDiskFullOfWhatIsStored(t *testing.T) {
	t.Parallel()
	from := logtest.Open(t, eventlog.Config{})
	for _, text := range []string{noise(5 << 20), strings.Join(numbered("compresses", 25_000), "\n")} {
		if _, err := eventlog.AppendEnd(t.Context(), from, events.Daemon, logtest.Draft(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := from.Erase(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	to := logtest.Open(t, eventlog.Config{MinFree: 1 << 20, Free: func(string) (uint64, error) { return 4 << 20, nil }})
	if err := to.Restore(t.Context(), logtest.Records(t, from)...); err != nil {
		t.Errorf("Restore: %v", err)
	}
	if got, want := contents(t, to), contents(t, from); !slices.Equal(got, want) {
		t.Errorf("got %d records, want %d", len(got), len(want))
	}
}

// TestDiskUnknown appends where the system cannot tell what is free.
func TestDiskUnknown(t *testing.T) {
	t.Parallel()
	cfg := eventlog.Config{Free: func(string) (uint64, error) { return 0, errors.ErrUnsupported }}
	l, err := eventlog.Open(filepath.Join(t.TempDir(), "log"), cfg)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer mustClose(t, l)
	mustAppend(t, l, logtest.Session("a"), 0, "x")
}

// TestClockGoesBack appends under a clock that is set back.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	now := time.Unix(1_800_000_000, 0)
	open := func() *eventlog.Bolt {
		l, err := eventlog.Open(path, eventlog.Config{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		return l
	}
	l := open()
	first := mustAppend(t, l, logtest.Session("a"), 0, "x")[0].RecordedAt
	now = now.Add(-time.Hour)
	second := mustAppend(t, l, logtest.Session("a"), 1, "y")[0].RecordedAt
	mustClose(t, l)
	l = open()
	defer mustClose(t, l)
	third := mustAppend(t, l, logtest.Session("b"), 0, "z")[0].RecordedAt
	if !second.Equal(first) || !third.Equal(first) {
		t.Errorf("recorded at %s, %s, %s; want the first for all", first, second, third)
	}
	mustVerify(t, l)
}
