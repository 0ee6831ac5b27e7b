package logtest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

func testAppend(t *testing.T, l Log) {
	d := Draft("one")
	d.Key, d.Causation, d.Correlation = events.KeyOf("k"), uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	d.Unobserved = true
	got, err := l.Append(t.Context(), Session("a"), 0, d, Draft("two"))
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	equal(t, "positions", []events.Position{got[0].Position, got[1].Position}, []events.Position{1, 2})
	equal(t, "versions", []events.Version{got[0].Version, got[1].Version}, []events.Version{1, 2})
	h := got[0].Header
	want := events.Header{
		Position: 1, Stream: Session("a"), Version: 1, ID: d.ID, Kind: events.KindPromptSubmitted, Schema: 1, Unobserved: true,
		Key: d.Key, OccurredAt: d.OccurredAt, RecordedAt: h.RecordedAt, Causation: d.Causation, Correlation: d.Correlation,
		Size: h.Size, PayloadHash: h.PayloadHash,
	}
	equal(t, "header", h, want)
	if h.RecordedAt.IsZero() || h.Size == 0 || h.PayloadHash.IsZero() {
		t.Errorf("recorded at, size or payload hash is missing: %+v", h)
	}
	equal(t, "back-pointer of the second", got[1].Previous, events.Position(1))
	equal(t, "texts", texts(t, got), []string{"one", "two"})
	equal(t, "what is read back", collect(t, l.All(t.Context(), 0)), got, sameRecords)
	verify(t, l)
}

func testVersions(t *testing.T, l Log) {
	appendTo(t, l, Session("a"), 0, "a1", "a2")
	for _, expected := range []events.Version{0, 1, 3, 1 << 60} {
		_, err := l.Append(t.Context(), Session("a"), expected, Draft("no"))
		var wrong *eventlog.WrongVersionError
		if !errors.As(err, &wrong) || !errors.Is(err, eventlog.ErrWrongVersion) {
			t.Errorf("expected version %d: got error %v, want ErrWrongVersion", expected, err)
			continue
		}
		equal(t, "error", *wrong, eventlog.WrongVersionError{Stream: Session("a"), Expected: expected, Actual: 2})
	}
	_, err := l.Append(t.Context(), Session("b"), 1, Draft("no"))
	wantErr(t, "append to an unknown stream at 1", err, eventlog.ErrWrongVersion)
	appendTo(t, l, Session("a"), 2, "a3")
	equal(t, "texts", texts(t, Records(t, l)), []string{"a1", "a2", "a3"})
}

// testFencing has writers race for each version of one stream: exactly one wins each.
func testFencing(t *testing.T, l Log) {
	const writers, rounds = 8, 25
	for round := range events.Version(rounds) {
		var wg sync.WaitGroup
		wins := make(chan string, writers)
		for w := range writers {
			wg.Go(func() {
				name := fmt.Sprintf("%d by %d", round, w)
				_, err := l.Append(t.Context(), Session("a"), round*2, Draft(name), Draft(name))
				if err == nil {
					wins <- name
				} else if !errors.Is(err, eventlog.ErrWrongVersion) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wg.Wait()
		close(wins)
		winner := <-wins
		if winner == "" || <-wins != "" {
			t.Fatalf("round %d: not exactly one writer won", round)
		}
		got := texts(t, collect(t, l.Stream(t.Context(), Session("a"), round*2+1)))
		equal(t, "the winner's events", got, []string{winner, winner})
	}
	verify(t, l)
}

// testConcurrent has many writers append to their own streams, several events at a time. One in three appends names
// a wrong version, which must fail alone.
func testConcurrent(t *testing.T, l Log) {
	const writers, appends = 16, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			stream := Session(fmt.Sprint(w))
			for i := range events.Version(appends) {
				text := fmt.Sprintf("%d/%d", w, i)
				if i%3 == 0 {
					_, err := l.Append(t.Context(), stream, i*3+7, Draft("wrong"))
					wantErr(t, "a wrong version", err, eventlog.ErrWrongVersion)
				}
				if _, err := l.Append(t.Context(), stream, i*3, Draft(text), Draft(text), Draft(text)); err != nil {
					t.Errorf("append %s: %v", text, err)
					return
				}
			}
		})
	}
	wg.Wait()
	records := Records(t, l)
	equal(t, "records", len(records), writers*appends*3)
	for i, r := range records {
		equal(t, "position", r.Position, events.Position(i+1))
		if i%3 > 0 && text(t, r) != text(t, records[i-1]) {
			t.Errorf("the events of one append are torn at %d", r.Position)
		}
	}
	verify(t, l)
}

func testInvalid(t *testing.T, l Log) {
	for _, stream := range []events.StreamID{"", "\x00format", " x", events.StreamID(strings.Repeat("x", events.MaxStream+1))} {
		_, err := l.Append(t.Context(), stream, 0, Draft("x"))
		wantErr(t, fmt.Sprintf("append to %.20q", string(stream)), err, eventlog.ErrInvalid)
		v, p, err := l.Head(t.Context(), stream)
		if v != 0 || p != 0 || err != nil {
			t.Errorf("Head of %.20q: got %d, %d, %v", string(stream), v, p, err)
		}
	}
	for name, d := range map[string]events.Draft{"no id": {Event: events.SessionClosed{}}, "no event": {ID: Draft("").ID}} {
		_, err := l.Append(t.Context(), Session("a"), 0, Draft("first"), d)
		wantErr(t, name, err, eventlog.ErrInvalid)
	}
	longest := events.StreamID(strings.Repeat("x", events.MaxStream))
	appendTo(t, l, longest, 0, "fits")
	equal(t, "the longest name", Records(t, l)[0].Stream, longest)
}

func testEmptyAppend(t *testing.T, l Log) {
	for _, v := range []events.Version{0, 5} {
		got, err := l.Append(t.Context(), Session("a"), v)
		if len(got) != 0 || err != nil {
			t.Errorf("no drafts at %d: got %d records, %v", v, len(got), err)
		}
	}
	last, err := l.Last(t.Context())
	if last != 0 || err != nil {
		t.Errorf("Last: got %d, %v, want 0", last, err)
	}
	equal(t, "records", len(Records(t, l)), 0)
	verify(t, l)
}

func testTooLarge(t *testing.T, l Log) {
	_, err := l.Append(t.Context(), Session("a"), 0, Draft("small"), Draft(strings.Repeat("x", events.MaxPayload+1)))
	wantErr(t, "a payload over the limit", err, events.ErrTooLarge)
	equal(t, "records", len(Records(t, l)), 0)

	large := strings.Repeat("0123456789abcdef", 10<<20/16)
	appendTo(t, l, Session("a"), 0, large, "after")
	if got := texts(t, Records(t, l)); got[0] != large || got[1] != "after" {
		t.Error("10 MiB did not come back")
	}
	verify(t, l)
}

// testTimes checks that recorded_at never decreases and that occurred_at keeps its nanoseconds.
func testTimes(t *testing.T, l Log) {
	var all []events.Record
	for i := range events.Version(50) {
		all = append(all, appendTo(t, l, Session("a"), i, "x")...)
	}
	for i := 1; i < len(all); i++ {
		if all[i].RecordedAt.Before(all[i-1].RecordedAt) {
			t.Errorf("recorded at %s after %s", all[i].RecordedAt, all[i-1].RecordedAt)
		}
	}
	if got := all[0].OccurredAt.Nanosecond(); got != 123_456_789 {
		t.Errorf("occurred at: got %d ns", got)
	}
	equal(t, "read back", Records(t, l), all, sameRecords)
}

// testAppendEnd has many writers share one stream.
func testAppendEnd(t *testing.T, l Log) {
	const writers, appends = 8, 15
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range appends {
				text := fmt.Sprintf("%d/%d", w, i)
				if _, err := eventlog.AppendEnd(t.Context(), l, events.Daemon, Draft(text), Draft(text)); err != nil {
					t.Errorf("AppendEnd: %v", err)
				}
			}
		})
	}
	wg.Wait()
	all := texts(t, collect(t, l.Stream(t.Context(), events.Daemon, 1)))
	equal(t, "records", len(all), writers*appends*2)
	times := map[string]int{}
	for i, s := range all {
		times[s]++
		if times[s] == 2 && all[i-1] != s {
			t.Errorf("the two events of %s are torn", s)
		}
	}
	equal(t, "different texts", len(times), writers*appends)
	_, err := eventlog.AppendEnd(t.Context(), l, "", Draft("x"))
	wantErr(t, "AppendEnd without a name", err, eventlog.ErrInvalid)
}
