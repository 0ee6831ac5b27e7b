package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/api"
)

// TestCursors reads every list that has pages by its cursors, two entries at a time, while more comes in after each page: what there was
// at first comes once each, and in its order but for searches by relevance.
func TestCursors(t *testing.T) {
	t.Parallel()
	// Their order moves, as words become commoner and segments, in which alone rows have neighbours, are merged.
	moving := []string{"search", "search folded", "search behind"}
	for name, list := range map[string]func(w *world, c api.Cursor, limit int) ([]string, api.Cursor, error){
		"search newest": searchPages(api.SearchQuery{Text: "cart", Sort: "newest"}),
		"search oldest": searchPages(api.SearchQuery{Text: "cart", Sort: "oldest"}),
		"search":        searchPages(api.SearchQuery{Text: "cart"}),
		"search folded": searchPages(api.SearchQuery{Text: "tuesdays"}),
		"search behind": searchPages(api.SearchQuery{Text: "cart", Offset: 3}),
		"newest behind": searchPages(api.SearchQuery{Text: "cart", Sort: "newest", Offset: 3}),
		"all rows":      searchPages(api.SearchQuery{}),
		"outcomes": func(w *world, c api.Cursor, limit int) (ids []string, _ api.Cursor, _ error) {
			page, err := api.OutcomesRoute.Call(context.Background(), w.client, api.OutcomesQuery{Cursor: c, Limit: limit})
			for _, in := range page.Inputs {
				ids = append(ids, fmt.Sprint(in.Position))
			}
			return ids, page.NextCursor, err
		},
		"records": func(w *world, c api.Cursor, limit int) (ids []string, _ api.Cursor, _ error) {
			page, err := api.RecordsRoute.Call(context.Background(), w.client, api.RecordsQuery{Cursor: c, Limit: limit})
			for _, r := range page.Records {
				ids = append(ids, fmt.Sprint(r.Position))
			}
			return ids, page.NextCursor, err
		},
		"rows newest":    rowPages(api.ListQuery{}),
		"rows oldest":    rowPages(api.ListQuery{Sort: "oldest", Kind: "memory,observation"}),
		"rows of a name": rowPages(api.ListQuery{Project: "shop"}),
		"inputs": func(w *world, c api.Cursor, limit int) (ids []string, _ api.Cursor, err error) {
			found, err := api.SearchRoute.Call(context.Background(), w.client, api.SearchQuery{Kind: "observation", Sort: "oldest", Limit: 1})
			if err != nil || len(found.Results) == 0 {
				return nil, c, err
			}
			page, err := api.InputsRoute.Call(context.Background(), w.client, api.InputsQuery{ID: found.Results[0].ID.String(), Cursor: c, Limit: limit})
			for _, in := range page.Inputs {
				ids = append(ids, fmt.Sprint(in.Position))
			}
			return ids, page.NextCursor, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			for i := range 4 {
				w.use(t, fmt.Sprint("s", i), 3)
				w.work(t, fmt.Sprint("s", i), fmt.Sprintf("mend the cart, part %d", i), fmt.Sprintf("/src/shop/cart%d.go", i))
				w.remember(t, fmt.Sprintf("the cart has %d wheels", i))
				w.remember(t, "deploys go out on tuesdays")
				w.remember(t, fmt.Sprintf("on tuesdays somebody looks at shelf number %d of the shop", i))
			}
			w.settled(t)
			all, _, searchErr := searchPages(api.SearchQuery{Text: "cart"})(w, api.Cursor{}, 100)
			want, _, err := list(w, api.Cursor{}, 100)
			if err = errors.Join(err, searchErr); err != nil || len(want) < 3 {
				t.Fatalf("got %q, %v, want some", want, err)
			}
			var got []string
			for c, page := (api.Cursor{}), 0; page == 0 || !c.IsZero(); page++ {
				ids, next, err := list(w, c, 2)
				if err != nil || page > 200 {
					t.Fatalf("page %d: %v", page, err)
				}
				got, c = append(got, ids...), next
				if page < 4 {
					w.remember(t, fmt.Sprintf("a cart came on tuesdays, the %d.", page))
					w.work(t, "later", fmt.Sprintf("paint the cart, coat %d", page), "/src/shop/paint.go")
					w.settled(t)
				}
			}
			if slices.Contains(moving, name) {
				slices.Sort(want)
				slices.Sort(got)
			}
			if name == "records" || name == "rows oldest" { // what came meanwhile stands behind
				got = got[:min(len(got), len(want))]
			}
			if name == "search behind" { // which rows the offset passes over moves too
				if len(got) != len(want) || slices.ContainsFunc(got, func(id string) bool { return !slices.Contains(all, id) }) {
					t.Errorf("got %q, want %d of %q", got, len(want), all)
				}
				want = slices.Compact(slices.Clone(got))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-at once +in pages):\n%s", diff)
			}
		})
	}
}

// searchPages reads a page of a search.
func searchPages(q api.SearchQuery) func(w *world, c api.Cursor, limit int) ([]string, api.Cursor, error) {
	return func(w *world, c api.Cursor, limit int) (ids []string, _ api.Cursor, _ error) {
		q := q
		q.Cursor, q.Limit = c, limit
		page, err := api.SearchRoute.Call(context.Background(), w.client, q)
		for _, r := range page.Results {
			ids = append(ids, r.ID.String())
		}
		return ids, page.NextCursor, err
	}
}

// remember saves a memory.
func (w *world) remember(tb testing.TB, text string) {
	tb.Helper()
	if _, err := api.SaveRoute.Call(tb.Context(), w.client, api.Memory{Project: "shop", Text: text}); err != nil {
		tb.Fatal(err)
	}
}

// TestCursorsThatAreNone are refused by name.
func TestCursorsThatAreNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, path := range []string{"/v1/search", "/v1/outcomes", "/v1/log/records"} {
		_, err := w.client.Do(t.Context(), "GET", path, map[string][]string{"cursor": {"x!"}}, nil, nil)
		if p := problem(t, err); p.Status != 400 || !slices.ContainsFunc(p.Errors, func(e api.FieldError) bool { return e.Pointer == "cursor" }) {
			t.Errorf("%s: got %+v, want the cursor refused", path, p)
		}
	}
}

// TestCursorsOfOthers: a cursor of another list, or of another query, is refused by name instead of beginning again.
func TestCursorsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 3 {
		w.work(t, "s1", fmt.Sprintf("mend the cart, part %d", i), "/src/shop/cart.go")
		w.remember(t, fmt.Sprintf("the cart has %d wheels", i))
	}
	w.settled(t)
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "cart", Limit: 1})
	if err != nil || found.NextCursor.IsZero() {
		t.Fatalf("got %+v, %v, want a cursor", found, err)
	}
	records, err := api.RecordsRoute.Call(t.Context(), w.client, api.RecordsQuery{Limit: 1})
	if err != nil || records.NextCursor.IsZero() {
		t.Fatalf("got %+v, %v, want a cursor", records, err)
	}
	_, ofRecords := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "cart", Cursor: records.NextCursor})
	_, ofSearch := api.OutcomesRoute.Call(t.Context(), w.client, api.OutcomesQuery{Cursor: found.NextCursor})
	_, asRecords := api.RecordsRoute.Call(t.Context(), w.client, api.RecordsQuery{Cursor: found.NextCursor})
	_, otherWords := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "wheels", Cursor: found.NextCursor})
	_, otherStream := api.RecordsRoute.Call(t.Context(), w.client, api.RecordsQuery{Stream: "daemon", Cursor: records.NextCursor})
	for what, err := range map[string]error{
		"of records, to search": ofRecords, "of search, to outcomes": ofSearch, "of search, to records": asRecords,
		"of other words": otherWords, "of another stream": otherStream,
	} {
		p := problem(t, err)
		if p.Status != 400 || len(p.Errors) != 1 || p.Errors[0].Pointer != "cursor" || !strings.Contains(p.Errors[0].Detail, "begin again without it") {
			t.Errorf("%s: got %+v, want the cursor refused", what, p)
		}
	}
	if _, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "cart", Limit: 2, Cursor: found.NextCursor}); err != nil {
		t.Errorf("its own, with larger pages: %v", err)
	}
}

// rowPages are the pages of a list of rows.
func rowPages(q api.ListQuery) func(w *world, c api.Cursor, limit int) ([]string, api.Cursor, error) {
	return func(w *world, c api.Cursor, limit int) (ids []string, _ api.Cursor, _ error) {
		q := q
		q.Cursor, q.Limit = c, limit
		page, err := api.ListRoute.Call(context.Background(), w.client, q)
		for _, r := range page.Rows {
			ids = append(ids, r.ID.String())
		}
		return ids, page.NextCursor, err
	}
}
