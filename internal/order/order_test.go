package order_test

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/internal/order"
)

// row is as large as a row of memory.
type row struct {
	Key, Place int
	_          [50]string
}

func byKey(a, b row) int { return cmp.Compare(a.Key, b.Key) }

// TestBy sorts as package slices does, and keeps what is equal in its order.
func TestBy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := make([]row, rapid.IntRange(0, 100).Draw(t, "length"))
		for i := range list {
			list[i] = row{Key: rapid.IntRange(0, 9).Draw(t, "key"), Place: i}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		order.By(list, byKey)
		if !slices.Equal(list, want) {
			t.Fatal(gocmp.Diff(want, list, gocmp.AllowUnexported(row{})))
		}
	})
}

// BenchmarkBy is what a list of a thousand rows takes, beside package slices.
func BenchmarkBy(b *testing.B) {
	list := make([]row, 1000)
	for i := range list {
		list[i].Key = i * 7919 % 1000
	}
	for name, sort := range map[string]func([]row, func(a, b row) int){"order": order.By[row], "slices": slices.SortFunc[[]row]} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sort(slices.Clone(list), byKey)
			}
		})
	}
}
