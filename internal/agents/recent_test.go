package agents

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRecent compares the map with a list that forgets the plain way.
func TestRecent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type entry struct{ key, value string }
		max, maxSize := rapid.IntRange(1, 5).Draw(t, "max"), rapid.IntRange(1, 30).Draw(t, "maxSize")
		r := newRecent[string](max, maxSize)
		var want []entry
		without := func(key string) (rest []entry) {
			for _, e := range want {
				if e.key != key {
					rest = append(rest, e)
				}
			}
			return rest
		}
		size := func() (n int) {
			for _, e := range want {
				n += len(e.key) + len(e.value)
			}
			return n
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			key := rapid.StringMatching("[a-h]").Draw(t, "key")
			want = without(key)
			if rapid.Bool().Draw(t, "drop") {
				r.drop(key)
				continue
			}
			value := strings.Repeat("v", rapid.IntRange(0, 12).Draw(t, "size"))
			want = append(want, entry{key, value})
			forgotten := 0
			for len(want) > 1 && (len(want) > max || size() > maxSize) {
				want, forgotten = want[1:], forgotten+1
			}
			if got := r.put(key, value, len(value)); got != forgotten {
				t.Fatalf("put %s: got %d forgotten, want %d", key, got, forgotten)
			}
		}
		if len(r.byKey) != len(want) || r.order.Len() != len(want) || r.size != size() {
			t.Fatalf("got %d entries of %d bytes, want %d of %d", len(r.byKey), r.size, len(want), size())
		}
		for _, e := range want {
			if got, ok := r.get(e.key); !ok || got != e.value {
				t.Fatalf("%s: got %q, %t; want %q", e.key, got, ok, e.value)
			}
		}
	})
}
