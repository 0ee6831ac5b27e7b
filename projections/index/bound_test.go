package index

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// looked is how many documents a query looks at, each as often as it has one of the words.
func (x *Index) looked(t *testing.T, q Query) (n int) {
	t.Helper()
	s, err := x.current()
	if err != nil {
		t.Fatal(err)
	}
	snap, err := s.snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	run, err := s.prepare(t.Context(), snap, x.analyzer, &x.scratches, q)
	if err != nil {
		t.Fatal(err)
	}
	defer x.scratches.put(run)
	lists, err := run.openPostings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	weighTerms(run.terms, 1000)
	if run.most > 0 {
		if err := run.bound(lists); err != nil {
			t.Fatal(err)
		}
	}
	for i, list := range lists {
		for _, p := range list {
			if run.terms[i].left {
				continue
			}
			docs, err := run.passingOf(p)
			if err != nil {
				t.Fatal(err)
			}
			if p.only != nil {
				docs.And(p.only)
			}
			n += int(docs.GetCardinality())
		}
	}
	return n
}

// What a bounded search looks at does not grow with the number of documents.
func TestBoundedWorkIsFlat(t *testing.T) {
	t.Parallel()
	const most = 1500
	q := Query{Text: "worker order of the cart 17", Project: "shop"}
	counts := map[int][2]int{}
	for _, docs := range []int{300, 6_000} {
		w := newWriter(t)
		s, other := w.open("codex", "s", "shop"), w.open("codex", "o", "bank")
		for i := range docs {
			w.observe(s, fmt.Sprintf("The worker took order %d of the cart", i%997), "")
			if i%5 == 0 {
				w.observe(other, "The worker took an order of the cart", "")
			}
		}
		x := w.mustOpen(t.TempDir())
		all := x.looked(t, q)
		q.Most = most
		counts[docs] = [2]int{all, x.looked(t, q)}
		if res := mustSearch(t, x, q); len(res.Hits) == 0 || res.Total > most {
			t.Errorf("of %d: %d hits of %d", docs, len(res.Hits), res.Total)
		}
		q.Most = 0
	}
	few, many := counts[300], counts[6_000]
	if few[0] != few[1] || many[0] < 10*few[0] || many[1] > most || many[1] > 2*few[1] {
		t.Errorf("of 300 and 6,000 documents %v and %v were looked at without a bound and with it", few, many)
	}
}

// A bound that suffices changes nothing; one that does not is kept, and what has the rarest word is found.
func TestBoundedSearch(t *testing.T) {
	t.Parallel()
	w, c := newWriter(t), newCorpus(5)
	w.fill(c, 400)
	x := w.mustOpen(t.TempDir())
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfNDistinct(rapid.SampledFrom(c.words[:200]), 1, 8, rapid.ID[string]).Draw(r, "words")
		q := Query{Limit: 1000}
		for _, word := range words {
			q.Text += word + " "
		}
		all, work := mustSearch(t, x, q), x.looked(t, q)
		q.Most = work + 1
		if within := mustSearch(t, x, q); !reflect.DeepEqual(all, within) {
			r.Fatalf("%q within its bound: -want +got\n%s", q.Text, cmp.Diff(all, within))
		}
		q.Most = rapid.IntRange(1, work+1).Draw(r, "most")
		got := mustSearch(t, x, q)
		if n := x.looked(t, q); n > q.Most || got.Total > n {
			r.Fatalf("%q: %d looked at for a bound of %d, %d matched", q.Text, n, q.Most, got.Total)
		}
		for _, h := range got.Hits {
			if !slices.ContainsFunc(all.Hits, func(a Hit) bool { return a.ID == h.ID }) {
				r.Fatalf("%q: %s is found only with a bound", q.Text, h.ID)
			}
		}
	})
}

// Where no word is rare, the newest documents are looked at.
func TestBoundedSearchFindsTheNewest(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "shop")
	for i := range 400 {
		w.observe(s, fmt.Sprintf("carousel %d", i), "")
	}
	rare := w.observe(s, "quorum", "")
	newest := w.observe(s, "carousel slideshow", "")
	x := w.mustOpen(t.TempDir())
	res := mustSearch(t, x, Query{Text: "carousel quorum", Most: 11})
	ids := idsOf(res)
	if res.Total > 11 || !slices.Contains(ids, rare) || !slices.Contains(ids, newest) {
		t.Errorf("%d found, rare %v, newest %v", res.Total, slices.Contains(ids, rare), slices.Contains(ids, newest))
	}
	if res := mustSearch(t, x, Query{Text: "carousel", Most: 11, Explain: true}); res.Total != 401 {
		t.Errorf("explained: %d, want all", res.Total)
	}
}
