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

// someHits are rows of which many differ in a word or two, or in what keeps them apart. They are so short that all their phrases count.
func someHits(t *rapid.T) []hit {
	words := rapid.SliceOfN(rapid.StringMatching(`[a-d]{1,3}`), 1, sketchSize/2).Draw(t, "words")
	hits := make([]hit, rapid.IntRange(1, 30).Draw(t, "rows"))
	for i := range hits {
		own := append([]string(nil), words...)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			own[rapid.SampledFrom([]int{0, len(own) - 1, len(own) / 2}).Draw(t, "at")] = rapid.StringMatching(`[a-d]{1,3}`).Draw(t, "word")
		}
		row := &rows.Row{ID: numbered(i), Kind: rows.Memory, Title: strings.Join(own, " "), Count: 1}
		switch rapid.IntRange(0, 9).Draw(t, "apart") {
		case 0:
			row.Kind = rows.Summary
		case 1:
			row.Project = "shop"
		case 2:
			row.ProjectRoot = "/src/shop"
		case 3:
			row.Flagged = true
		case 4:
			row.Writer = events.WriterAgent
		}
		hits[i].row = row
	}
	return hits
}

// TestFolds: a row is folded into the first one that was kept, of the same group, with most of whose phrases it agrees.
func TestFolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want, got []events.ID
		var kept []*rows.Row
		var f folds
		for _, h := range someHits(t) {
			i := slices.IndexFunc(kept, func(r *rows.Row) bool { return sameGroup(r, h.row) && agree(r.Title, h.row.Title) })
			if i >= 0 {
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

// TestShortWordsDiffer: no three words of up to three letters come to the same as three others.
func TestShortWordsDiffer(t *testing.T) {
	t.Parallel()
	var words []string
	for _, a := range []string{"", "a", "b", "c"} {
		for _, b := range []string{"", "a", "b", "c"} {
			for _, c := range []string{"a", "b", "c"} {
				words = append(words, a+b+c)
			}
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	var f folds
	known := map[uint64]string{}
	for _, a := range words {
		for _, b := range words {
			for _, c := range words {
				text := a + " " + b + " " + c
				hash := f.sketch(&rows.Row{Title: text})[0]
				if other := known[hash]; other != "" {
					t.Fatalf("%q comes to the same as %q", text, other)
				}
				known[hash] = text
			}
		}
	}
}

func sameGroup(a, b *rows.Row) bool {
	return a.Kind == b.Kind && a.Project == b.Project && a.ProjectRoot == b.ProjectRoot && a.Flagged == b.Flagged && a.By() == b.By()
}

// agree reports whether two texts have sameness of their phrases of three words in common; shorter ones are equal.
func agree(a, b string) bool {
	in := func(text string) map[string]bool {
		words, all := strings.Fields(text), map[string]bool{}
		if len(words) < shingle {
			return map[string]bool{text: true}
		}
		for i := range len(words) - shingle + 1 {
			all[strings.Join(words[i:i+shingle], " ")] = true
		}
		return all
	}
	x, y := in(a), in(b)
	both := 0
	for phrase := range x {
		if y[phrase] {
			both++
		}
	}
	return float64(both) >= sameness*float64(len(x)+len(y)-both)
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
