package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
)

// TestCursorText: a cursor comes back as it went, with marks of the rows that were shown, and is short enough for a parameter.
func TestCursorText(t *testing.T) {
	t.Parallel()
	ids := make([]events.ID, maxMarks)
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7())
	}
	full := Cursor{List: InputsRoute.Path, Query: 1<<32 - 1, AsOf: 1 << 40, Passed: maxMarks, Row: ids[0]}.WithMarks(nil, ids...)
	for _, c := range []Cursor{{At: 7}, {AsOf: 9, Passed: 3, Row: ids[1]}, full} {
		text, err := c.MarshalText()
		if err != nil || len(text) > MaxParam {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		var back Cursor
		if err := back.UnmarshalText(text); err != nil || !cmp.Equal(c, back) {
			t.Errorf("got %+v, %v, want %+v", back, err, c)
		}
	}
	marked := full.Marked()
	if !marked(ids[0]) || !marked(ids[maxMarks-1]) || marked(uuid.Must(uuid.NewV7())) {
		t.Error("the marks are of other rows")
	}
	if some := (Cursor{Passed: 3}).WithMarks(nil, ids[0], ids[1]); some.Marked() != nil {
		t.Error("two marks are taken for those of three rows")
	}
	if more := (Cursor{Passed: maxMarks + 1}).WithMarks(full.Shown, ids[0]); more.Marked() != nil {
		t.Errorf("got marks of %d bytes, want none", len(more.Shown))
	}
	for _, text := range []string{"", "x!", "eyJwIjotMX0", "bnVsbA==", "bnVsbA", "e30"} {
		if err := new(Cursor).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for a cursor", text)
		}
	}
}

// TestCheckCursor: a cursor is of one list and of one query of it; what belongs to a page alone may change.
func TestCheckCursor(t *testing.T) {
	t.Parallel()
	first := SearchQuery{Text: "cart", Sort: "newest", Kind: "memory", Offset: 3, Limit: 2, Facets: true}
	c := SearchRoute.PageAfter(first, Cursor{AsOf: 9, Passed: 5})
	for name, q := range map[string]struct {
		query any
		want  string
	}{
		"the same":        {&SearchQuery{Text: "cart", Sort: "newest", Kind: "memory", Offset: 3, Limit: 2, Facets: true, Cursor: c}, ""},
		"another size":    {&SearchQuery{Text: "cart", Sort: "newest", Kind: "memory", Limit: 50, After: 7, Explain: true, Cursor: c}, ""},
		"other words":     {&SearchQuery{Text: "carts", Sort: "newest", Kind: "memory", Cursor: c}, "of another query"},
		"another order":   {&SearchQuery{Text: "cart", Kind: "memory", Cursor: c}, "of another query"},
		"without filters": {&SearchQuery{Text: "cart", Sort: "newest", Cursor: c}, "of another query"},
		"no cursor":       {&SearchQuery{Text: "carts"}, ""},
		"bound to none":   {&SearchQuery{Text: "cart", Cursor: Cursor{AsOf: 9, Passed: 5}}, `of another list, ""`},
	} {
		checkedAs(t, name, Endpoint(SearchRoute), q.query, q.want)
	}
	checkedAs(t, "another list", Endpoint(OutcomesRoute), &OutcomesQuery{Cursor: c}, `of another list, "/v1/search"`)
	of := InputsRoute.PageAfter(InputsQuery{ID: "1"}, Cursor{At: 4})
	checkedAs(t, "the same row", Endpoint(InputsRoute), &InputsQuery{ID: "1", Cursor: of}, "")
	checkedAs(t, "another row", Endpoint(InputsRoute), &InputsQuery{ID: "2", Cursor: of}, "of another query")
	if end := SearchRoute.PageAfter(first, Cursor{}); !cmp.Equal(end, Cursor{}) {
		t.Errorf("the end became %+v", end)
	}
}

// checkedAs checks the cursor of query against what is wrong with it; empty: nothing.
func checkedAs(t *testing.T, name string, e Endpoint, query any, want string) {
	t.Helper()
	var got string
	CheckCursor(e, query, func(pointer, format string, args ...any) { got += pointer + " " + fmt.Sprintf(format, args...) })
	if (got == "") != (want == "") || got != "" && !strings.HasPrefix(got, "cursor is "+want) {
		t.Errorf("%s: got %q, want %q", name, got, want)
	}
}
