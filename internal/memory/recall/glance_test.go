package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// An answer is the same whether the head is glanced at or, as of the log's last record, read whole.
func TestGlancesChangeNoAnswer(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, false)
	words := strings.Fields("cart carton Token TOKENS cache Kache retry order price Prİce 検索索引 index café merge-batch")
	random := rapid.SliceOfN(rapid.SampledFrom(words), 1, 9)
	var all []events.ID
	for i := range 12 {
		s := w.open(fmt.Sprint("s", i), "shop")
		var list []events.Event
		for j := range 40 {
			all = append(all, newID())
			e := events.ObservationParsed{Observation: all[len(all)-1], Prompt: j / 10, Type: "change"}
			e.Title = strings.Join(random.Example(i*40+j), " ")
			if e.Narrative = strings.Join(random.Example(i*40+j/2), " "); j%3 == 0 {
				e.Facts = random.Example(i + j)
			}
			list = append(list, e)
		}
		w.put(s.Stream(), list...)
	}
	w.put("memory", events.MemoryForgotten{IDs: all[:len(all)/9]})
	w.sync()
	last, err := w.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		q := Query{
			Text: strings.Join(random.Draw(t, "words"), " "), Limit: rapid.IntRange(1, MaxLimit).Draw(t, "limit"),
			Offset: rapid.IntRange(0, 130).Draw(t, "offset"), Explain: rapid.Bool().Draw(t, "explain"), ungrouped: rapid.Bool().Draw(t, "ungrouped"),
		}
		got, err := w.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.AsOf = last
		want, err := w.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// headOf is what a search shows and leaves waiting of rows that all say alpha, and of which the last says beta behind it.
func headOf(t *testing.T, meanwhile func(w *world, ids []events.ID)) (l *resultSet, ids []events.ID) {
	t.Helper()
	w := newWorld(t)
	for i := range 60 {
		s := w.open(fmt.Sprint("s", i), "shop")
		text := fmt.Sprintf("alpha %d", i)
		if i == 0 {
			text = "alpha beta"
		}
		ids = append(ids, w.observe(s, "change", text, fmt.Sprintf("said of number %d and of %d", i, i*i)))
	}
	w.sync()
	q := Query{Text: "alpha beta"}
	if err := q.check(); err != nil {
		t.Fatal(err)
	}
	iq, err := w.translate(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	l = newResultSet(w.Recall, q, iq, moment{}, semanticHits{})
	l.iq.Limit = head
	if l.found, err = w.index.Search(t.Context(), l.iq); err != nil {
		t.Fatal(err)
	}
	if l.waiting, err = l.glance(t.Context(), l.found.Hits); err != nil {
		t.Fatal(err)
	}
	l.next = len(l.found.Hits)
	if meanwhile != nil {
		meanwhile(w, ids)
	}
	l.iq.Limit = len(l.found.Hits) // as if there were more
	if err := l.settle(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	return l, ids
}

// Of the head only those rows are read that are shown, or in which words may stand together.
func TestRowsThatAreNotShownAreNotRead(t *testing.T) {
	t.Parallel()
	l, ids := headOf(t, nil)
	if len(l.shown) != 21 || l.shown[0].row.ID != ids[0] || l.shown[0].phrase == 0 {
		t.Fatalf("got %d rows, the first %s with %v, want 21 and %s", len(l.shown), l.shown[0].row.ID, l.shown[0].phrase, ids[0])
	}
	for _, h := range slices.DeleteFunc(slices.Clone(l.waiting), func(h hit) bool { return h.row == nil }) {
		// An id is made by chance, and one in some thousands has the bytes of a letter whose lower case is one of ASCII: such a row may hold
		// any word, and is read.
		glances, err := l.r.cfg.Views.Glances(t.Context(), l.words, rows.Name{ID: h.row.ID, Kind: h.row.Kind})
		if err != nil || len(glances) != 1 || !hasNeighbours(glances[0].Holds) {
			t.Errorf("%s was read: %v, %v", h.row.Title, glances, err)
		}
	}
	if len(l.waiting) != len(ids)-len(l.shown) {
		t.Errorf("%d rows wait, want %d", len(l.waiting), len(ids)-len(l.shown))
	}
}

// A row that is forgotten between the glance at it and its reading is not shown.
func TestWhatIsForgottenAfterAGlance(t *testing.T) {
	t.Parallel()
	l, ids := headOf(t, func(w *world, ids []events.ID) {
		w.put("memory", events.MemoryForgotten{IDs: ids[5:55]})
		w.sync()
	})
	for _, h := range l.shown {
		if slices.Contains(ids[5:55], h.row.ID) {
			t.Errorf("%q is shown", h.row.Title)
		}
	}
	if len(l.shown) != 10 || l.hidden != 50 {
		t.Errorf("%d rows are shown and %d hidden, want 10 and 50", len(l.shown), l.hidden)
	}
}
