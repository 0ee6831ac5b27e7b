package server

import (
	"net/http"
	"slices"
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

// Whatever takes an id takes a handle.
func TestHandlesAreTakenWhereIDsAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	saved, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: "shop", ProjectRoot: "/src/shop", Text: "Releases are cut on Tuesdays"})
	if err != nil {
		t.Fatal(err)
	}
	handle := saved.Handle.String()
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "releases", After: saved.Position})
	if err != nil || len(found.Results) != 1 || found.Results[0].Handle.String() != handle {
		t.Fatalf("saved as %s; found %+v, %v", handle, found.Results, err)
	}
	row, err := api.RowRoute.Call(t.Context(), w.client, api.RowQuery{ID: handle})
	if err != nil || row.ID != saved.ID || row.Handle() != saved.Handle {
		t.Errorf("row: %+v, %v", row, err)
	}
	if got, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: handle}); err != nil || got.Row.ID != saved.ID {
		t.Errorf("why: %+v, %v", got.Row, err)
	}
	if got, err := api.InputsRoute.Call(t.Context(), w.client, api.InputsQuery{ID: handle}); err != nil || got.ID != saved.ID {
		t.Errorf("inputs: %+v, %v", got, err)
	}
	if got, err := api.TimelineRoute.Call(t.Context(), w.client, api.TimelineQuery{Anchor: handle}); err != nil || got.Anchor.ID != saved.ID {
		t.Errorf("timeline: %+v, %v", got, err)
	}
	fixed, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Text: "Releases are cut on Wednesdays", Supersedes: handle})
	if err != nil || fixed.Superseded[0] != saved.ID || fixed.Handle == saved.Handle {
		t.Errorf("correct: %+v, %v", fixed, err)
	}
	if got, err := api.UndoRoute.Call(t.Context(), w.client, api.IDQuery{ID: fixed.Handle.String()}); err != nil || got.Restored[0] != saved.ID || got.Withdrawn[0] != fixed.ID {
		t.Errorf("undo: %+v, %v", got, err)
	}
	rows, err := api.RowsRoute.Call(t.Context(), w.client, api.RowsRequest{IDs: []string{"m999999", handle, "m3"}})
	if err != nil || len(rows.Rows) != 1 || len(rows.Missing) != 2 || !strings.Contains(rows.WhyMissing["m3"], "no memory") {
		t.Errorf("one of three: %+v, %v", rows, err)
	}
	for id, want := range map[string]string{"m999999": "no row has that id", "m3": "is no memory"} {
		_, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: id})
		if p := problem(t, err); p.Status != http.StatusNotFound || !strings.Contains(p.Detail, want) {
			t.Errorf("%s: %+v", id, p)
		}
	}
}

// Rows are read with what else is of their prompt.
func TestRowsHaveTheirParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "a", "Fix the flaky checkout test", "/src/shop/cart.go")
	w.settled(t)
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "checkout", Kind: "observation"})
	if err != nil || len(found.Results) != 1 || len(found.Results[0].Parts) == 0 || found.Results[0].Parts[0].Kind != "prompt" {
		t.Fatalf("found %+v, %v", found.Results, err)
	}
	prompt := found.Results[0].Parts[0]
	got, err := api.RowsRoute.Call(t.Context(), w.client, api.RowsRequest{IDs: []string{prompt.Handle.String()}})
	if err != nil || len(got.Rows) != 1 || got.Rows[0].ID != prompt.ID || !slices.ContainsFunc(got.Parts[prompt.ID], func(p api.EntryPart) bool { return p.ID == found.Results[0].ID }) {
		t.Errorf("the prompt: %+v, %v", got, err)
	}
}

// Rows are read with what came next in their session.
func TestRowsHaveWhatCameNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "a", "Fix the flaky checkout test", "/src/shop/cart.go")
	w.work(t, "a", "Round the totals of the invoice", "/src/shop/invoice.go")
	w.settled(t)
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "checkout", Kind: "observation"})
	if err != nil || len(found.Results) != 1 {
		t.Fatalf("found %+v, %v", found.Results, err)
	}
	id := found.Results[0].ID
	got, err := api.RowsRoute.Call(t.Context(), w.client, api.RowsRequest{IDs: []string{id.String()}})
	if err != nil || len(got.Later[id]) != 1 || !strings.Contains(got.Later[id][0].Title, "invoice") {
		t.Errorf("later: %+v, %v", got.Later, err)
	}
}
