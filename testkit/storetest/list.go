package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// mustList lists all keys under prefix, and holds the revisions that are listed to those that Get tells.
func (m *machine) mustList(t testing.TB, prefix string) (keys []store.Key) {
	t.Helper()
	for e, err := range store.All(m.ctx, m, prefix, "") {
		if err != nil {
			t.Fatalf("List %q: %v", prefix, err)
		}
		if _, rev, err := m.Get(m.ctx, e.Key); err != nil || e.Rev != "" && e.Rev != rev {
			t.Fatalf("List has %s at %q, Get at %q, %v", e.Key, e.Rev, rev, err)
		}
		keys = append(keys, e.Key)
	}
	return keys
}

func (m *machine) wantListed(t testing.TB, prefix string, want ...store.Key) {
	t.Helper()
	if diff := cmp.Diff(want, m.mustList(t, prefix), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("List %q (-want +got):\n%s", prefix, diff)
	}
}

// testList: a prefix is whole parts, and the order is that of the keys' bytes: a hyphen, a dot, a slash, digits, letters.
func testList(t *testing.T, w *world) {
	m := w.open(t)
	m.wantListed(t, "")
	m.wantListed(t, "s/")
	in := []store.Key{
		"s/log-x/a", "s/log.x/a", "s/log", "s/log/1/head",
		"s/log/1/s/00000000000000ff.1", "s/log/1/s/00000000000000ff.2", "s/log/1/s/0000000000000100.1",
		"s/log/10/head", "s/log/2/head", "s/log0/a", "s/logs/a", "s/space",
	}
	order := slices.Clone(in)
	slices.Reverse(order)
	for _, key := range order {
		m.mustCreate(t, key, "")
	}
	sorted := slices.Clone(in)
	slices.Sort(sorted)
	m.wantListed(t, "", sorted...)
	m.wantListed(t, "s/", sorted...)
	m.wantListed(t, "s/log/", in[3:9]...)
	m.wantListed(t, "s/log/1/s/", in[4:7]...)
	m.wantListed(t, "s/log/1/head/")
	m.wantListed(t, "s/lo/")
	m.wantListed(t, "other/")
}

func testPages(t *testing.T, w *world) {
	const all = 23
	m := w.open(t)
	for n := range all {
		m.mustCreate(t, store.Key(fmt.Sprintf("s/p/%02d", n)), "")
	}
	for _, size := range []int{1, 2, 7, all - 1, all, all + 1} {
		var got []store.Entry
		for after, page := store.Key(""), 0; ; page++ {
			part, err := m.List(w.ctx, "s/p/", after, size)
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, part...); len(part) < size {
				break
			}
			after = part[size-1].Key
		}
		if len(got) != all || got[0].Key != "s/p/00" || got[all-1].Key != "s/p/22" {
			t.Errorf("%d in pages of %d: %v", len(got), size, got)
		}
	}
	for after, want := range map[store.Key]int{
		"s/p/20": 2, "s/p/205": 2, "s/p/22": 0, "s/p/": all, "a": all, "s/q": 0, "not a key, but a text": all,
	} {
		if got, err := m.List(w.ctx, "s/p/", after, 0); err != nil || len(got) != want {
			t.Errorf("after %q: %v, %v; want %d", after, got, err, want)
		}
	}
}

// testSpaces: spaces do not see each other, and the empty prefix sees all in one order.
func testSpaces(t *testing.T, w *world) {
	a, b := w.open(t), w.open(t)
	for _, key := range []store.Key{"tt/x", "t1/x", "t/x", "t/x/y"} {
		a.mustCreate(t, key, "")
	}
	b.wantListed(t, "", "t/x", "t/x/y", "t1/x", "tt/x")
	b.wantListed(t, "t/", "t/x", "t/x/y")
	if got, err := b.List(w.ctx, "", "t/x/y", 1); err != nil || len(got) != 1 || got[0].Key != "t1/x" {
		t.Errorf("one after t/x/y: %v, %v", got, err)
	}
}
