package server

import (
	"net/url"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/outcomes"
)

// TestSearchAsOf has the past asked for by a position and by a time, before and after there was anything.
func TestSearchAsOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: "shop", Text: "releases on Tuesdays"})
	if err != nil {
		t.Fatal(err)
	}
	between := w.records(t)[first.Position-1].RecordedAt
	for !time.Now().After(between.Add(2 * time.Millisecond)) { // the log's clock has to go on
		time.Sleep(time.Millisecond)
	}
	second, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: "shop", Text: "releases on Fridays"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		query api.SearchQuery
		want  int
	}{
		{"now", api.SearchQuery{}, 2},
		{"the first position", api.SearchQuery{AsOf: api.Moment{Position: first.Position}}, 1},
		{"the last position", api.SearchQuery{AsOf: api.Moment{Position: second.Position}}, 2},
		{"a position before a time", api.SearchQuery{AsOf: api.Moment{Position: first.Position, Time: time.Now().Add(time.Hour)}}, 1},
		{"the time of the first", api.SearchQuery{AsOf: api.Moment{Time: between}}, 1},
		{"a time to come", api.SearchQuery{AsOf: api.Moment{Time: time.Now().Add(time.Hour)}}, 2},
		{"before there was anything", api.SearchQuery{AsOf: api.Moment{Time: between.Add(-time.Hour)}}, 0},
	} {
		c.query.Text, c.query.After, c.query.Facets = "releases", second.Position, true
		found, err := api.SearchRoute.Call(t.Context(), w.client, c.query)
		if err != nil || found.Results == nil || len(found.Results) != c.want {
			t.Errorf("%s: got %d results, %v, want %d", c.name, len(found.Results), err, c.want)
		}
		if f := found.Facets; f == nil || f.Project == nil || f.File == nil || len(f.Project) != min(c.want, 1) {
			t.Errorf("%s: facets %+v, want those that were asked for", c.name, f)
		}
	}
	if found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "the of", Facets: true}); err != nil || found.Facets == nil {
		t.Errorf("no word to look for: facets %+v, %v", found.Facets, err)
	}
	if _, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: first.ID.String(), AsOf: api.Moment{Time: between.Add(-time.Hour)}}); problem(t, err).Status != 404 {
		t.Errorf("why, before there was anything: %v", err)
	}
	for _, bad := range []string{"soon", "-1", "2026-02-30"} {
		err := call(t.Context(), w.client, "GET", "/v1/search", url.Values{"as_of": {bad}}, nil, nil)
		if p := problem(t, err); p.Status != 400 || len(p.Errors) != 1 || p.Errors[0].Pointer != "as_of" {
			t.Errorf("as_of=%s: got %+v", bad, p)
		}
	}
}

// TestSessionByTheBeginningOfItsID has sessions found as rows are, and their inputs counted wherever they are shown.
func TestSessionByTheBeginningOfItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "one", "make the cart faster", "/src/shop/cart.go")
	w.settled(t)
	listed, err := api.SessionsRoute.Call(t.Context(), w.client, api.SessionsQuery{})
	if err != nil || len(listed.Sessions) != 1 {
		t.Fatalf("got %+v, %v", listed, err)
	}
	s := listed.Sessions[0]
	if s.Inputs.Captured == 0 || s.Inputs.Captured != s.Inputs.Observed {
		t.Errorf("in the list: got %+v, want inputs that were observed", s.Inputs)
	}
	for _, beginning := range []string{s.ID.String()[:8], s.ID.String()[:13], s.ID.String()} {
		if one, err := api.SessionRoute.Call(t.Context(), w.client, api.IDQuery{ID: beginning}); err != nil || one.Session.ID != s.ID {
			t.Errorf("%s: got %v, %v", beginning, one.Session.ID, err)
		}
	}
	for _, none := range []string{s.ID.String()[:7], "zzzzzzzz", "00000000"} {
		if _, err := api.SessionRoute.Call(t.Context(), w.client, api.IDQuery{ID: none}); problem(t, err).Status != 404 {
			t.Errorf("%s: got %v", none, err)
		}
	}
	in, err := api.ProjectionRoute.Call(t.Context(), w.client, api.InspectQuery{Name: "sessions"})
	if err != nil || len(in.Entries) != 1 {
		t.Fatalf("got %+v, %v", in, err)
	}
	counts := in.Entries[0].Value.(map[string]any)["inputs"].(map[string]any)
	if counts["captured"] != float64(s.Inputs.Captured) {
		t.Errorf("in the view laid open: got %v, want %+v", counts, s.Inputs)
	}
	in, err = api.ProjectionRoute.Call(t.Context(), w.client, api.InspectQuery{Name: "outcomes"})
	if err != nil || len(in.Entries) != s.Inputs.Captured {
		t.Fatalf("got %+v, %v", in, err)
	}
	if got := in.Entries[0].Value.(map[string]any)["outcome"]; got != string(outcomes.Observed) {
		t.Errorf("an outcome laid open: got %v", got)
	}
}

// TestProblemOfTheWholeBody has an error without a pointer say what it is about.
func TestProblemOfTheWholeBody(t *testing.T) {
	t.Parallel()
	p := invalid("", "is not JSON from byte %d on", 2)
	if got, want := p.Error(), "the body: is not JSON from byte 2 on (400)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
