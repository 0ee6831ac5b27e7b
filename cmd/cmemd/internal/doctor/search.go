package doctor

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
)

// probeLimit is how many results a search for a row's own title is given to show that row.
const probeLimit = 100

// checkSearch has the daemon find its newest row by the words of the row's own title: the way of every search, from the
// index to the views.
func checkSearch(ctx context.Context, x *examination) (out []finding) {
	if !x.deep || x.status == nil {
		return nil
	}
	err := x.app.Query(ctx, func(ctx context.Context, client api.Invoker) (err error) {
		out, err = probeSearch(ctx, client)
		return err
	})
	if err != nil {
		return []finding{faulty("`cmemd logs` says more; `cmemd projections rebuild` makes what is searched anew", "a search failed: %s", terminal.Describe(err))}
	}
	return out
}

func probeSearch(ctx context.Context, client api.Invoker) ([]finding, error) {
	newest, err := api.SearchRoute.Call(ctx, client, api.SearchQuery{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(newest.Results) == 0 {
		return []finding{healthy("nothing is remembered yet that could be found")}, nil
	}
	row := newest.Results[0]
	began := time.Now()
	q := api.SearchQuery{Text: row.Title, Project: row.Project, Kind: string(row.Kind), Sort: "newest", Limit: probeLimit, After: newest.Position}
	found, err := api.SearchRoute.Call(ctx, client, q)
	if err != nil {
		return nil, err
	}
	took := time.Since(began).Round(100 * time.Microsecond)
	has := func(r api.Result) bool { return r.ID == row.ID || slices.Contains(r.Similar, row.ID) }
	named := strings.ContainsFunc(row.Title, unicode.IsLetter) && !strings.HasPrefix(row.Title, "(") // (untitled) is no word of it
	if named && !slices.ContainsFunc(found.Results, has) {
		return []finding{faulty("`cmemd projections rebuild` makes what is searched anew", "the newest row, %s, is not found by its own title", row.ID)}, nil
	}
	return []finding{healthy("%s with any word of the newest title, in %s", number.Plural(found.Total, "row"), took)}, nil
}
