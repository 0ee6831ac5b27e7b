package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// someHits are rows of which many differ in a word or two.
func someHits(t *rapid.T) []hit {
	words := rapid.SliceOfN(rapid.StringMatching(`[a-d]{1,3}`), 1, 80).Draw(t, "words")
	hits := make([]hit, rapid.IntRange(1, 30).Draw(t, "rows"))
	for i := range hits {
		own := append([]string(nil), words...)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			own[rapid.IntRange(0, len(own)-1).Draw(t, "at")] = rapid.StringMatching(`[a-d]{1,3}`).Draw(t, "word")
		}
		hits[i].row = &rows.Row{ID: numbered(i), Kind: rapid.SampledFrom([]rows.Kind{rows.Observation, rows.Summary}).Draw(t, "kind"), Title: strings.Join(own, " "), Count: 1}
	}
	return hits
}

// TestFolds sets folding beside a comparison of each with all.
func TestFolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hits := someHits(t)
		var want, got []events.ID
		var kept []*rows.Row
		var f folds
		for _, h := range hits {
			if i := slices.IndexFunc(kept, func(r *rows.Row) bool {
				return r.Kind == h.row.Kind && alike(sketch(*r), sketch(*h.row))
			}); i >= 0 {
				want = append(want, kept[i].ID)
			} else {
				kept = append(kept, h.row)
			}
			if by, ok := f.add(h.row); ok {
				got = append(got, by)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// BenchmarkFold folds rows of which none is like another, though they share most of their words: what a page of a search costs,
// and the deepest one.
func BenchmarkFold(b *testing.B) {
	for _, n := range []int{30, 100, maxFolded} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			hits := make([]hit, n)
			var shared strings.Builder
			for i := range 40 {
				fmt.Fprintf(&shared, "word%d ", i)
			}
			for i := range hits {
				own := strings.Repeat(fmt.Sprintf("row %d of %d was looked at by %d. ", i, n, i*7919), 2)
				hits[i].row = &rows.Row{ID: numbered(i), Title: own, Narrative: shared.String()}
			}
			for b.Loop() {
				var f folds
				for _, h := range hits {
					f.add(h.row)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}

func numbered(i int) (id events.ID) {
	id[0], id[1] = byte(i>>8), byte(i)
	return id
}
