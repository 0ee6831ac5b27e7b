package server

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// TestPositionsAmongMachines: where another machine's records stand among the own ones, each position that is answered names what it is said to name when it is
// asked by, and what is checked, exported and counted is the own log.
func TestPositionsAmongMachines(t *testing.T) {
	t.Parallel()
	w := joinedWorld(t)
	w.post(t, toolUse("s", "one", "ls", "x"), toolUse("s", "two", "ls", "y"))
	ids, last := w.saved(t, "the walrus", "the narwhal")
	if whole, err := w.log.Last(t.Context()); err != nil || last != whole {
		t.Errorf("saved at %d of %d: %v", last, whole, err)
	}
	rows, err := api.ObservationsRoute.Call(t.Context(), w.client, api.RowsQuery{IDs: []string{ids[1].String()}, After: last})
	if err != nil || len(rows.Rows) != 1 || rows.Rows[0].Position != last || rows.Rows[0].Text != "the narwhal" {
		t.Errorf("after %d: %+v, %v", last, rows, err)
	}
	if then, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "walrus narwhal", After: last, AsOf: api.Moment{Position: last - 1}}); err != nil ||
		len(then.Results) != 1 || then.Results[0].ID != ids[0] {
		t.Errorf("before the last: %+v, %v", then, err)
	}
	seen := w.watchEvents(t, api.EventsQuery{After: last - 2}, 2)
	if seen[0].Position != last-1 || seen[1].Position != last || seen[1].Kind != events.KindMemorySaved {
		t.Errorf("events: %+v", seen)
	}
	page, err := api.RecordsRoute.Call(t.Context(), w.client, api.RecordsQuery{From: last, Limit: 9, Payload: true})
	if err != nil || len(page.Records) != 1 || page.Last != last || !strings.Contains(string(page.Records[0].Event), "the narwhal") {
		t.Errorf("records: %+v, %v", page, err)
	}
	by, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Text: "the whale", Supersedes: ids[0].String()})
	if err != nil || len(by.Superseded) != 1 || by.Superseded[0] != ids[0] || by.Position <= last {
		t.Errorf("corrected: %+v, %v", by, err)
	}
	w.post(t, hook("Stop", "s", map[string]any{"last_assistant_message": "Done.", "prompt_id": "p"}))
	w.settled(t)
	own, err := w.own.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v, err := api.VerifyRoute.Call(t.Context(), w.client, api.NoQuery{}, nil)
	if err != nil || !v.OK || v.Unchecked != "" || len(v.Discrepancies) > 0 || uint64(v.Records) != uint64(own) {
		t.Errorf("verify, of %d records: %+v, %v", own, v, err)
	}
	if c, err := api.CompareRoute.Call(t.Context(), w.client, api.NoQuery{}, nil); err != nil || !c.Well() || len(c.Remains) > 0 {
		t.Errorf("compare: %+v, %v", c, err)
	}
	var out bytes.Buffer
	if err := w.client.Export(t.Context(), &out, 0); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range eventlog.ReadExport(t.Context(), &out) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if events.Position(n) != own {
		t.Errorf("exported %d records, want the own log's %d", n, own)
	}
}
