package index

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// Of all candidates that are offered the best are kept, as many as are wanted, whatever order they come in and however many are equal.
func TestTheBestAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, rapid.IntRange(0, 50).Draw(t, "most")), 0, 200).Draw(t, "keys")
		col := &columns{at: make([]int64, len(keys)), position: make([]events.Position, len(keys))}
		s := &search{scratch: new(scratch), cols: []*columns{col}, want: rapid.IntRange(1, 60).Draw(t, "wanted")}
		var all []candidate
		for doc, key := range keys {
			col.at[doc], col.position[doc] = int64(doc%3), events.Position(doc)
			all = append(all, candidate{doc: uint32(doc), key: float64(key)})
		}
		for _, c := range all {
			s.offer(c)
		}
		s.cut(s.want)
		slices.SortFunc(all, s.before)
		slices.SortFunc(s.best, s.before)
		if want := all[:min(s.want, len(all))]; !slices.Equal(s.best, want) {
			t.Fatalf("got %v, want %v", s.best, want)
		}
	})
}

// What is selected from lists that fall and then rise, as when old sessions are read newest first and live ones follow, takes a few
// comparisons an element too.
func TestSelectingIsLinear(t *testing.T) {
	t.Parallel()
	const n = 40_000
	list, compared := make([]candidate, 2*n), 0
	for i := range list {
		list[i] = candidate{doc: uint32(i), key: math.Abs(float64(n - i))}
	}
	selectFirst(list, n, func(a, b candidate) int {
		compared++
		return cmp.Compare(a.key, b.key)
	})
	if compared > 40*len(list) { // three an element are usual, and no draw of pivots comes near to this
		t.Errorf("%d comparisons for %d elements", compared, len(list))
	}
}
