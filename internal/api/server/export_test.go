package server

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

func (w *world) exported(t *testing.T, q api.ExportQuery) (titles []string) {
	t.Helper()
	err := w.client.ExportRows(t.Context(), q, func(r api.Row) error {
		titles = append(titles, r.Title)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return titles
}

func TestExportRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	var ids []events.ID
	for i, m := range []api.Memory{
		{Text: "a", Title: "first", Project: "shop"}, {Text: "b", Title: "second", Project: "other", At: old},
		{Text: "c", Title: "wrong", Project: "shop"}, {Text: "d", Title: "rooted", Project: "shop", ProjectRoot: "/src/shop"},
	} {
		saved, err := api.SaveRoute.Call(t.Context(), w.client, m)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		ids = append(ids, saved.ID)
	}
	if _, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Text: "e", Title: "right", Supersedes: ids[2].String()}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		q    api.ExportQuery
		want []string
	}{
		{"all but what was corrected, in order", api.ExportQuery{}, []string{"first", "second", "rooted", "right"}},
		{"a project by its name", api.ExportQuery{Project: "shop"}, []string{"first", "rooted", "right"}},
		{"a project by its folder", api.ExportQuery{Project: "/src/shop"}, []string{"rooted"}},
		{"another kind", api.ExportQuery{Kinds: []string{"summary"}}, nil},
		{"two kinds", api.ExportQuery{Kinds: []string{"summary", "memory"}, Until: old}, []string{"second"}},
		{"since", api.ExportQuery{Since: old.Add(time.Second)}, []string{"first", "rooted", "right"}},
	} {
		if d := cmp.Diff(c.want, w.exported(t, c.q)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	err := w.client.ExportRows(t.Context(), api.ExportQuery{Kinds: []string{"thought"}}, nil)
	if p := problem(t, err); p.Status != http.StatusBadRequest {
		t.Errorf("an unknown kind: %+v", p)
	}
	enough := errors.New("enough")
	if err := w.client.ExportRows(t.Context(), api.ExportQuery{}, func(api.Row) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v, want %v", err, enough)
	}
}

// More rows than are looked up at once come all, in order.
func TestExportOfManyRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := 2*exportBatch + 7
	drafts := make([]events.Draft, n)
	var want []string
	for i := range drafts {
		want = append(want, fmt.Sprint("number ", i))
		drafts[i] = events.Draft{ID: newID(), OccurredAt: time.Now(), Event: events.MemorySaved{Memory: newID(), Title: want[i], Text: "x"}}
	}
	if _, err := w.log.Append(t.Context(), events.Daemon, 0, drafts...); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, w.exported(t, api.ExportQuery{})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
