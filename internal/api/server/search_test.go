package server

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// Orders, counts, reasons and filters go together, through the client.
func TestSearchTakesWhatItIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var ids []events.ID
	var last events.Position
	for _, m := range []api.Memory{
		{Project: "shop", Title: "carousel", Text: "the carousel turns and turns", Type: "decision", At: time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC), Files: []string{"a/motor.go"}},
		{Project: "shop", Title: "a note", Text: "what was said of motors, carts, a carousel and other things that turn", Type: "discovery", At: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)},
		{Project: "bank", Title: "carousel", Text: "another carousel, of another project", Type: "discovery", At: time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC)},
	} {
		saved, err := api.SaveRoute.Call(t.Context(), w.client, m)
		if err != nil {
			t.Fatal(err)
		}
		ids, last = append(ids, saved.ID), saved.Position
	}
	none, most := 0, api.Most(api.SearchQuery{}, "recency")
	for name, c := range map[string]struct {
		q    api.SearchQuery
		want []events.ID
	}{
		"best":           {api.SearchQuery{Project: "shop", Recency: &none}, []events.ID{ids[0], ids[1]}},
		"age decides":    {api.SearchQuery{Project: "shop", Recency: &most}, []events.ID{ids[1], ids[0]}},
		"newest":         {api.SearchQuery{Sort: "newest"}, []events.ID{ids[1], ids[2], ids[0]}},
		"oldest":         {api.SearchQuery{Sort: "oldest"}, []events.ID{ids[0], ids[2], ids[1]}},
		"filters":        {api.SearchQuery{Sort: "oldest", Type: "discovery", Since: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}, []events.ID{ids[1]}},
		"file and as of": {api.SearchQuery{File: "motor.go", AsOf: api.Moment{Position: last}}, []events.ID{ids[0]}},
	} {
		c.q.Text, c.q.After = "carousel", last
		found, err := api.SearchRoute.Call(t.Context(), w.client, c.q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []events.ID
		for _, r := range found.Results {
			got = append(got, r.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || found.Facets != nil {
			t.Errorf("%s: facets %v, -want +got\n%s", name, found.Facets, diff)
		}
	}
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "carousel motor", Facets: true, Explain: true, Limit: 1, After: last})
	if err != nil || len(found.Results) != 1 || found.Results[0].Explain == nil || len(found.Results[0].Explain.Terms) == 0 {
		t.Fatalf("got %+v, %v", found, err)
	}
	if diff := cmp.Diff([]api.Count{{Value: "shop", Count: 2}, {Value: "bank", Count: 1}}, found.Facets.Project); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSearchTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for param, pointer := range map[string]string{
		"sort=best": "sort", "recency=-1": "recency", "recency=1001": "recency", "recency=x": "recency", "facets=yes": "facets", "explain=2": "explain",
	} {
		var out api.SearchResults
		query := map[string][]string{}
		for i := range len(param) {
			if param[i] == '=' {
				query[param[:i]] = []string{param[i+1:]}
			}
		}
		err := call(t.Context(), w.client, "GET", "/v1/search", query, nil, &out)
		if p := problem(t, err); p.Status != 400 || len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: got %+v, want 400 at %s", param, p, pointer)
		}
	}
}

// TestSearchForALongText: the client says of a text what the server says of one that it reads, also where the server would read no request.
func TestSearchForALongText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	long := func(n int) string { return strings.Repeat("w", n) }
	want := problem(t, call(t.Context(), w.client, "GET", "/v1/search", map[string][]string{"q": {long(api.MaxParam + 1)}}, nil, new(api.SearchResults)))
	for _, n := range []int{api.MaxParam + 1, 120_000} {
		_, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: long(n)})
		if diff := cmp.Diff(want, problem(t, err)); diff != "" {
			t.Errorf("%d bytes (-server +client):\n%s", n, diff)
		}
	}
	if _, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: long(api.MaxParam)}); err != nil {
		t.Error(err)
	}
	_, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: long(120_000)})
	if p := problem(t, err); p.Error() != "id: is longer than 4096 bytes (400)" {
		t.Errorf("in the path: got %v", p)
	}
}
