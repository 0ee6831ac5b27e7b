package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// saved saves memories and returns their ids and the last position.
func (w *world) saved(t *testing.T, texts ...string) (ids []events.ID, last events.Position) {
	t.Helper()
	for _, text := range texts {
		s, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: "shop", ProjectRoot: "/src/shop", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		ids, last = append(ids, s.ID), s.Position
	}
	return ids, last
}

func TestRowsByIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ids, last := w.saved(t, "one", "two", "three")
	absent := newID().String()
	got, err := api.ObservationsRoute.Call(t.Context(), w.client, api.RowsQuery{IDs: []string{ids[2].String(), absent, ids[0].String()[:18]}, After: last})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range got.Rows {
		texts = append(texts, r.Text)
	}
	if diff := cmp.Diff([]string{"three", "one"}, texts); diff != "" || got.Position < last {
		t.Errorf("position %d, rows in the order asked (-want +got):\n%s", got.Position, diff)
	}
	if diff := cmp.Diff([]string{absent}, got.Missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	var posted api.Rows
	err = call(t.Context(), w.client, "POST", "/v1/observations", nil, map[string]any{"ids": []string{ids[1].String()}}, &posted)
	if err != nil || len(posted.Rows) != 1 || posted.Rows[0].Text != "two" {
		t.Errorf("posted: got %+v, %v", posted, err)
	}
	for name, ids := range map[string][]string{
		"none": nil, "too many": strings.Split(strings.Repeat("a,", api.MaxRows+1), ","), "no id": {"zz"},
	} {
		_, err := api.ObservationsRoute.Call(t.Context(), w.client, api.RowsQuery{IDs: ids})
		if p := problem(t, err); p.Status != http.StatusBadRequest {
			t.Errorf("%s: got %+v, want 400", name, p)
		}
	}
}

// A timeline shows rows as a search does: enough to decide what to read.
func TestATimelineIsOfRowsInShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ids, last := w.saved(t, "one", "two", "three")
	if _, err := api.ObservationsRoute.Call(t.Context(), w.client, api.RowsQuery{IDs: []string{ids[0].String()}, After: last}); err != nil {
		t.Fatal(err)
	}
	tl, err := api.TimelineRoute.Call(t.Context(), w.client, api.TimelineQuery{Anchor: ids[1].String()})
	if err != nil {
		t.Fatal(err)
	}
	if len(tl.Before) != 1 || len(tl.After) != 1 || tl.Anchor == nil {
		t.Fatalf("got %+v, want a row on either side", tl)
	}
	for i, r := range []api.Result{tl.Before[0], *tl.Anchor, tl.After[0]} {
		if r.ID != ids[i] || r.Title == "" || r.Tokens == 0 || r.Kind != "memory" || r.Project != "shop" {
			t.Errorf("row %d: got %+v", i, r)
		}
	}
}
