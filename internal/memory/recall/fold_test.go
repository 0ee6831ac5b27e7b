package recall

import (
	"fmt"
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
		hits[i].row = &rows.Row{ID: numbered(i), Title: strings.Join(own, " "), Count: 1}
	}
	return hits
}

// TestFoldingComparesWithAllThatMatter sets folding beside a comparison of each with all.
func TestFoldingComparesWithAllThatMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hits := someHits(t)
		var want []events.ID
		var sketches [][]uint64
	next:
		for _, h := range hits {
			own := sketch(*h.row)
			for _, s := range sketches {
				if alike(s, own) >= sameness {
					continue next
				}
			}
			want, sketches = append(want, h.row.ID), append(sketches, own)
		}
		var got []events.ID
		var f folds
		for _, h := range hits {
			if _, ok := f.add(h.row); !ok {
				got = append(got, h.row.ID)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kept (-all compared +indexed):\n%s", diff)
		}
	})
}

// BenchmarkFold folds rows of which none is like another: what the deepest page of a search costs.
func BenchmarkFold(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			hits := make([]hit, n)
			for i := range hits {
				hits[i].row = &rows.Row{ID: numbered(i), Title: fmt.Sprintf("row %d of %d was looked at by %d", i, n, i*7919)}
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
