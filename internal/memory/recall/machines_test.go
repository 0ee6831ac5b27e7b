package recall

import (
	"errors"
	"slices"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestHandlesOfTwoMachinesOfOneName: what both have is refused with both ids, never answered with that of one; what only one has is that.
func TestHandlesOfTwoMachinesOfOneName(t *testing.T) {
	t.Parallel()
	own := logtest.Open(t, eventlog.Config{NoSync: true})
	if _, err := eventlog.AppendEnd(t.Context(), own, events.Daemon, logtest.Draft("first")); err != nil {
		t.Fatal(err)
	}
	u, err := union.Open(own, union.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	var logs []events.LogID
	var ids [][]events.ID
	for _, n := range []int{1, 2} {
		theirs := logtest.Open(t, eventlog.Config{NoSync: true})
		var drafts []events.Draft
		var made []events.ID
		for range n {
			d := logtest.Draft("")
			d.Event, made = events.MemorySaved{Memory: d.ID, Text: "Tabs"}, append(made, d.ID)
			drafts = append(drafts, d)
		}
		records, err := eventlog.AppendEnd(t.Context(), theirs, events.Daemon, drafts...)
		if err != nil {
			t.Fatal(err)
		}
		logs, ids = append(logs, events.LogIDOf(records[0])), append(ids, made)
		if err := u.Add(t.Context(), union.Run{Log: logs[len(logs)-1], Records: records}); err != nil {
			t.Fatal(err)
		}
	}
	r := &Recall{cfg: Config{Log: union.Log{Union: u}, LogsOf: func(string) []events.LogID { return logs }}}
	var several *AmbiguousError
	if _, err := r.Resolve(t.Context(), rows.Handle{Machine: "vm", At: 1}.String()); !errors.As(err, &several) ||
		!slices.Equal(several.Choices, []events.ID{ids[0][0], ids[1][0]}) {
		t.Errorf("vm:m1: %v", err)
	}
	if id, err := r.Resolve(t.Context(), "vm:m2"); err != nil || id != ids[1][1] {
		t.Errorf("vm:m2: %s, %v, want %s", id, err, ids[1][1])
	}
	for _, none := range []string{"vm:m3", "m2"} {
		if _, err := r.Resolve(t.Context(), none); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", none, err)
		}
	}
}
