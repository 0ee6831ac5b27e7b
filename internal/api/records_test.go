package api

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// filledLog has n records: every third is of the stream "b", every tenth of another kind than a tool use.
func filledLog(t *testing.T, n int) eventlog.Log {
	t.Helper()
	log := logtest.Open(t, eventlog.Config{})
	versions := map[events.StreamID]events.Version{}
	for i := 1; i <= n; i++ {
		stream := events.StreamID("a")
		if i%3 == 0 {
			stream = "b"
		}
		var e events.Event = events.ToolUsed{Tool: fmt.Sprint(i)}
		if i%10 == 0 {
			e = events.AgentStopped{}
		}
		_, err := log.Append(t.Context(), stream, versions[stream], events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: e})
		if err != nil {
			t.Fatal(err)
		}
		versions[stream]++
	}
	return log
}

// chosen are the positions that q means, whatever page they come on.
func chosen(n int, q RecordsQuery) (at []events.Position) {
	for i := 1; i <= n; i++ {
		switch {
		case q.Stream == "b" && i%3 != 0, q.Stream == "a" && i%3 == 0:
		case q.Kinds == "agent_stopped" && i%10 != 0, q.Kinds == "tool_used" && i%10 == 0:
		default:
			at = append(at, events.Position(i))
		}
	}
	return at
}

// TestRecordsBackwards: pages from the end to the beginning, and from the beginning to the end, are what is chosen, once each.
func TestRecordsBackwards(t *testing.T) {
	t.Parallel()
	const n = 333
	log := filledLog(t, n)
	for name, q := range map[string]RecordsQuery{
		"all": {}, "a stream": {Stream: "b"}, "a kind": {Kinds: "agent_stopped"}, "both": {Stream: "a", Kinds: "tool_used,none"}, "none": {Kinds: "none"},
	} {
		want := chosen(n, q)
		if q.Kinds == "none" {
			want = nil
		}
		if q.Kinds == "tool_used,none" {
			want = chosen(n, RecordsQuery{Stream: "a", Kinds: "tool_used"})
		}
		for _, limit := range []int{1, 7, 100, 1000} {
			var back, on []events.Position
			for before := events.Position(n + 50); before != 0; {
				page, err := ReadRecords(t.Context(), log, RecordsQuery{Before: before, Limit: limit, Stream: q.Stream, Kinds: q.Kinds})
				if err != nil || len(page.Records) > limit || page.Prev >= before {
					t.Fatalf("%s: %d records, %v, before %d comes %d", name, len(page.Records), err, before, page.Prev)
				}
				back, before = append(positions(page), back...), page.Prev
			}
			for c := (Cursor{At: 1}); !c.IsZero(); {
				page, err := ReadRecords(t.Context(), log, RecordsQuery{Cursor: c, Limit: limit, Stream: q.Stream, Kinds: q.Kinds})
				if err != nil {
					t.Fatal(err)
				}
				on, c = append(on, positions(page)...), page.NextCursor
			}
			if !slices.Equal(back, want) || !slices.Equal(on, want) {
				t.Errorf("%s, %d a page: %s", name, limit, cmp.Diff(want, back)+cmp.Diff(want, on))
			}
		}
	}
}

func positions(page Records) (at []events.Position) {
	for _, r := range page.Records {
		at = append(at, r.Position)
	}
	return at
}

// TestRecordsSince: a time finds the first record that was recorded then or later, the end where there is none.
func TestRecordsSince(t *testing.T) {
	t.Parallel()
	log := filledLog(t, 50)
	all := logtest.Records(t, log)
	for _, at := range []events.Position{1, 17, 50} {
		page, err := ReadRecords(t.Context(), log, RecordsQuery{At: all[at-1].RecordedAt, Limit: 1})
		if err != nil || len(page.Records) != 1 || !page.Records[0].RecordedAt.Equal(all[at-1].RecordedAt) || page.Records[0].Position > at {
			t.Errorf("at %d: got %v, %v", at, positions(page), err)
		}
	}
	if page, err := ReadRecords(t.Context(), log, RecordsQuery{At: time.Now().Add(time.Hour)}); err != nil || len(page.Records) != 0 || page.Next != 0 {
		t.Errorf("in the future: %v, %v", positions(page), err)
	}
}
