package union_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

const day = 24 * time.Hour

// history is a log of days days: each has a tool use with output bytes that cannot be compressed, and an observation.
func history(t *testing.T, start time.Time, days, output int) []events.Record {
	t.Helper()
	now := start
	log := logtest.Open(t, eventlog.Config{Now: func() time.Time { return now }})
	noise := rand.New(rand.NewPCG(1, 2))
	var all []events.Record
	letters := make([]byte, output)
	for i := range letters {
		letters[i] = byte(' ' + noise.IntN(90))
	}
	for range days {
		var drafts []events.Draft
		for _, e := range []events.Event{events.ToolUsed{Tool: "Read", Output: string(letters)}, events.ObservationParsed{Title: "kept"}} {
			drafts = append(drafts, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: now, Event: e})
		}
		records, err := eventlog.AppendEnd(t.Context(), log, logtest.Session("b"), drafts...)
		if err != nil {
			t.Fatal(err)
		}
		all, now = append(all, records...), now.Add(day)
	}
	return all
}

// payloads counts the tool uses that have their payload, and checks that all else has.
func payloads(t *testing.T, u *union.Union) (n int) {
	t.Helper()
	for r, err := range u.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch _, err := r.Event(); {
		case err == nil && r.Kind == events.KindToolUsed:
			n++
		case err != nil && (r.Kind != events.KindToolUsed || !errors.Is(err, events.ErrWithheld)):
			t.Fatalf("record %d (%s): %v", r.Position, r.Kind, err)
		}
	}
	return n
}

// TestTrimAge: raw payloads over the age are withheld, and nothing else is.
func TestTrimAge(t *testing.T) {
	t.Parallel()
	own, dir := logtest.Open(t, eventlog.Config{}), copies(t)
	mustAppend(t, own, events.Daemon, "own")
	start := time.Now().Add(-200 * day)
	now := start.Add(200*day - time.Minute)
	at := func(c *union.Config) { c.Now = func() time.Time { return now } }
	u := open(t, own, dir, at)
	for _, log := range [][]events.Record{history(t, start, 200, 10), history(t, start.Add(150*day), 50, 10)} {
		mustAdd(t, u, union.Run{Log: events.LogIDOf(log[0]), Records: log})
	}
	for _, step := range []struct{ later, withheld, left int }{{0, 110, 140}, {0, 0, 140}, {30, 30, 110}, {40, 70, 40}} {
		now = now.Add(time.Duration(step.later) * day)
		done, err := u.Trim(t.Context(), union.Limits{})
		if err != nil || done.Records != step.withheld {
			t.Errorf("%d days later: %+v, %v, want %d records", step.later, done, err, step.withheld)
		}
		if got := payloads(t, u); got != step.left {
			t.Errorf("%d days later: %d payloads left, want %d", step.later, got, step.left)
		}
		mustClose(t, u)
		u = open(t, own, dir, at)
	}
	for _, c := range u.Copies() {
		if err := u.Verify(t.Context(), c.Log, nil); err != nil {
			t.Error(err)
		}
	}
}

// TestTrimBytes: what there is no room for goes, the oldest first, and the file shrinks.
func TestTrimBytes(t *testing.T) {
	t.Parallel()
	own := logtest.Open(t, eventlog.Config{})
	mustAppend(t, own, events.Daemon, "own")
	u := open(t, own, copies(t))
	const days, output = 80, 1 << 19
	log := history(t, time.Now().Add(-days*day), days, output)
	id := events.LogIDOf(log[0])
	for i := range log {
		mustAdd(t, u, union.Run{Log: id, Records: log[i : i+1]})
	}
	before := u.Copies()[0].Bytes
	done, err := u.Trim(t.Context(), union.Limits{Bytes: before / 2})
	if err != nil {
		t.Fatal(err)
	}
	left := payloads(t, u)
	if left < days/4 || left > days/2+1 || done.Records != days-left || done.Bytes > before*3/4 {
		t.Errorf("of %d bytes %+v; %d of %d payloads are left", before, done, left, days)
	}
	if r, err := u.Get(t.Context(), 2); err != nil || !r.Withheld {
		t.Errorf("the oldest is there still: %v", err)
	}
	if done, err = u.Trim(t.Context(), union.Limits{Bytes: 1}); err != nil || payloads(t, u) != 0 || done.Bytes > 2<<24 {
		t.Errorf("nothing may stay, yet the files have %d bytes: %v", done.Bytes, err)
	}
}

// TestTrimFetchedAgain: what was withheld comes again with its payloads where a copy was lost, whole or in part, and is withheld again.
func TestTrimFetchedAgain(t *testing.T) {
	t.Parallel()
	log := history(t, time.Now().Add(-200*day), 100, 10)
	id := events.LogIDOf(log[0])
	for _, kept := range []int{0, 50} {
		own, dir := logtest.Open(t, eventlog.Config{}), copies(t)
		mustAppend(t, own, events.Daemon, "own")
		u := open(t, own, dir)
		mustAdd(t, u, union.Run{Log: id, Records: log})
		if _, err := u.Trim(t.Context(), union.Limits{}); err != nil || payloads(t, u) != 0 {
			t.Fatalf("%d payloads are left: %v", payloads(t, u), err)
		}
		mustClose(t, u)
		copied := filepath.Join(dir, id.String()+".db")
		if err := os.Remove(copied); err != nil {
			t.Fatal(err)
		}
		if kept > 0 { // an older state of the file
			b, err := eventlog.Open(copied, quick)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.Restore(t.Context(), log[:kept]...), b.Close()); err != nil {
				t.Fatal(err)
			}
		}
		u = open(t, own, dir)
		mustAdd(t, u, union.Run{Log: id, Records: log[kept:]})
		done, err := u.Trim(t.Context(), union.Limits{})
		if left := payloads(t, u); err != nil || left > 0 {
			t.Errorf("with %d records kept: %d payloads are left, %+v, %v", kept, left, done, err)
		}
	}
}
