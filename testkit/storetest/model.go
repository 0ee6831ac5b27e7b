package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// model is what the objects of one space should be.
type model struct {
	w        *world
	space    string
	machines []*machine
	objects  map[store.Key]state
	oldRevs  []store.Rev // of states that are no more
}

// testModel does random things through two connections and to a map, and compares what is answered. Each case has a space of its own.
func testModel(t *testing.T, w *world) {
	two, cases := []*machine{w.open(t), w.open(t)}, 0
	rapid.Check(t, func(rt *rapid.T) {
		cases++
		m := &model{w: w, machines: two, space: fmt.Sprintf("m%d/", cases), objects: map[store.Key]state{}}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0, 1:
				m.create(rt)
			case 2:
				m.replace(rt)
			case 3:
				m.remove(rt)
			case 4:
				m.compare(rt)
			}
		}
		m.compare(rt)
	})
}

func (m *model) machine(rt *rapid.T) *machine {
	return rapid.SampledFrom(m.machines).Draw(rt, "machine")
}

func (m *model) key(rt *rapid.T) store.Key {
	return store.Key(m.space + rapid.SampledFrom([]string{"a", "a/b", "a.b", "a/b/c", "b"}).Draw(rt, "key"))
}

// rev is the one that key is at, or another.
func (m *model) rev(rt *rapid.T, key store.Key) store.Rev {
	if len(m.oldRevs) > 0 && rapid.Bool().Draw(rt, "stale") {
		return rapid.SampledFrom(m.oldRevs).Draw(rt, "rev")
	}
	return m.objects[key].rev
}

// allowed is what a call at rev answers.
func (m *model) allowed(key store.Key, rev store.Rev) error {
	now, there := m.objects[key]
	switch {
	case !there:
		return store.ErrNotFound
	case now.rev != rev:
		return store.ErrMoved
	}
	return nil
}

func (m *model) create(rt *rapid.T) {
	key, body := m.key(rt), rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(rt, "body")
	rev, err := m.machine(rt).Create(m.w.ctx, key, body)
	if _, there := m.objects[key]; there {
		m.want(rt, err, store.ErrExists)
		return
	}
	m.want(rt, err, nil)
	m.objects[key] = state{rev, body}
}

func (m *model) replace(rt *rapid.T) {
	key, body := m.key(rt), rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(rt, "body")
	at := m.rev(rt, key)
	rev, err := m.machine(rt).Replace(m.w.ctx, key, at, body)
	m.want(rt, err, m.allowed(key, at))
	if err == nil {
		m.oldRevs, m.objects[key] = append(m.oldRevs, at), state{rev, body}
	}
}

func (m *model) remove(rt *rapid.T) {
	key := m.key(rt)
	at := m.rev(rt, key)
	err := m.machine(rt).Delete(m.w.ctx, key, at)
	m.want(rt, err, m.allowed(key, at))
	if err == nil {
		m.oldRevs = append(m.oldRevs, at)
		delete(m.objects, key)
	}
}

func (m *model) want(rt *rapid.T, err, want error) {
	if !errors.Is(err, want) {
		rt.Fatalf("answered %v, want %v", err, want)
	}
}

// compare lists a prefix and gets all that it should have.
func (m *model) compare(rt *rapid.T) {
	prefix, by := m.space+rapid.SampledFrom([]string{"", "a/", "a/b/"}).Draw(rt, "prefix"), m.machine(rt)
	found, err := by.List(m.w.ctx, prefix, "", 0)
	m.want(rt, err, nil)
	var got, want []store.Key
	for _, e := range found {
		got = append(got, e.Key)
		if e.Rev != "" && e.Rev != m.objects[e.Key].rev {
			rt.Fatalf("List has %s at %q, want %q", e.Key, e.Rev, m.objects[e.Key].rev)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
		if strings.HasPrefix(string(key), prefix) {
			want = append(want, key)
		}
		body, rev, err := by.Get(m.w.ctx, key)
		if now := m.objects[key]; err != nil || string(body) != string(now.body) || rev != now.rev {
			rt.Fatalf("Get %s = %q at %q, %v; want %q at %q", key, body, rev, err, now.body, now.rev)
		}
	}
	if !slices.Equal(got, want) {
		rt.Fatalf("List %q = %q, want %q", prefix, got, want)
	}
}
