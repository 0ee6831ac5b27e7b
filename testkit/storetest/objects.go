package storetest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

func testCreate(t *testing.T, w *world) {
	a, b := w.open(t), w.open(t)
	a.wantNone(t, "s/one")
	first := a.mustCreate(t, "s/one", "words")
	second := a.mustCreate(t, "s/one/more", "") // a key may continue another, and an empty body is one
	for _, m := range []*machine{a, b} {
		rev, err := m.Create(w.ctx, "s/one", []byte("others"))
		wantErr(t, "of one that is there", err, store.ErrExists)
		if rev != "" {
			t.Errorf("an error with the revision %q", rev)
		}
		m.wantBody(t, "s/one", "words", first)
		m.wantBody(t, "s/one/more", "", second)
	}
}

func testReplace(t *testing.T, w *world) {
	a, b := w.open(t), w.open(t)
	first := a.mustCreate(t, "s/head", "1")
	second := b.mustReplace(t, "s/head", first, "2")
	_, err := a.Replace(w.ctx, "s/head", first, []byte("3"))
	wantErr(t, "at an older state", err, store.ErrMoved)
	_, err = a.Replace(w.ctx, "s/none", first, []byte("3"))
	wantErr(t, "of nothing", err, store.ErrNotFound)
	_, err = a.Replace(w.ctx, "s/head", "", []byte("3"))
	wantErr(t, "at no state", err, store.ErrMoved)
	_, err = a.Replace(w.ctx, "s/head", "what no engine answers", []byte("3"))
	wantErr(t, "at a state of nobody's", err, store.ErrMoved)
	a.wantBody(t, "s/head", "2", second)
	third := a.mustReplace(t, "s/head", second, "")
	b.wantBody(t, "s/head", "", third)
}

func testDelete(t *testing.T, w *world) {
	a, b := w.open(t), w.open(t)
	first := a.mustCreate(t, "s/gone", "words")
	second := a.mustReplace(t, "s/gone", first, "other words")
	wantErr(t, "at an older state", b.Delete(w.ctx, "s/gone", first), store.ErrMoved)
	wantErr(t, "at no state", b.Delete(w.ctx, "s/gone", ""), store.ErrMoved)
	wantErr(t, "at a state of nobody's", b.Delete(w.ctx, "s/gone", "what no engine answers"), store.ErrMoved)
	b.wantBody(t, "s/gone", "other words", second)
	b.mustDelete(t, "s/gone", second)
	a.wantNone(t, "s/gone")
	wantErr(t, "twice", a.Delete(w.ctx, "s/gone", second), store.ErrNotFound)
	_, err := a.Replace(w.ctx, "s/gone", second, nil)
	wantErr(t, "Replace of it", err, store.ErrNotFound)
	third := a.mustCreate(t, "s/gone", "again")
	b.wantBody(t, "s/gone", "again", third)
}

// testRevisions: no state of a key has the revision of another, also of the same body and after a deletion.
func testRevisions(t *testing.T, w *world) {
	m, seen := w.open(t), map[store.Rev]bool{}
	for range 3 {
		rev := m.mustCreate(t, "s/a", "same")
		for range 3 {
			old := rev
			if seen[rev] {
				t.Fatalf("the revision %s comes again", rev)
			}
			seen[rev] = true
			rev = m.mustReplace(t, "s/a", rev, "same")
			wantErr(t, "Delete at an older state", m.Delete(w.ctx, "s/a", old), store.ErrMoved)
		}
		if seen[rev] {
			t.Fatalf("the revision %s comes again", rev)
		}
		seen[rev] = true
		m.mustDelete(t, "s/a", rev)
	}
	m.mustCreate(t, "s/a", "same")
	for rev := range seen {
		_, err := m.Replace(w.ctx, "s/a", rev, []byte("other"))
		wantErr(t, "Replace at a state before the deletion", err, store.ErrMoved)
	}
}

// testBodies: every byte and every size up to MaxBody comes back, nothing above is taken, and bodies are the caller's.
func testBodies(t *testing.T, w *world) {
	m := w.open(t)
	for n, size := range []int{0, 1, 255, 4 << 10, 64<<10 - 1, 64 << 10, store.MaxBody - 1, store.MaxBody} {
		key, body := store.Key("s/size/"+string(rune('a'+n))), noise("body", size)
		given := bytes.Clone(body)
		rev, err := m.Create(w.ctx, key, given)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		clear(given)
		m.wantBody(t, key, string(body), rev)
		got, _, err := m.Get(w.ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		clear(got)
		m.wantBody(t, key, string(body), rev)
	}
	_, err := m.Create(w.ctx, "s/large", make([]byte, store.MaxBody+1))
	wantErr(t, "Create", err, store.ErrTooLarge)
	m.wantNone(t, "s/large")
	rev := m.mustCreate(t, "s/large", "small")
	_, err = m.Replace(w.ctx, "s/large", rev, make([]byte, store.MaxBody+1))
	wantErr(t, "Replace", err, store.ErrTooLarge)
	m.wantBody(t, "s/large", "small", rev)
}

// testObjectKeys: all that Key allows is a key of its own; all else is refused by every method.
func testObjectKeys(t *testing.T, w *world) {
	m := w.open(t)
	long := strings.Repeat("a", 100)
	good := []store.Key{
		"0/0", "s/0123456789", "s/a", "s/a-b", "s/a.b", "s/a/b", "s/a/b.c", "s/a/b/c", "s/abcdefghijklmnopqrstuvwxyz", "s/head", "s/head.1",
		store.Key("s/" + long), store.Key("s/" + long + "/" + long), "s/x.cm", "s/x.cm/y",
	}
	revs := map[store.Key]store.Rev{}
	for _, key := range good {
		revs[key] = m.mustCreate(t, key, "of "+string(key))
	}
	for _, key := range good {
		m.wantBody(t, key, "of "+string(key), revs[key])
	}
	slices.Sort(good)
	m.wantListed(t, "", good...)
	for _, key := range []store.Key{
		"", "s", "s/", "/etc/passwd", "../s", "s/../t", "s//a", "s/A", "s/a_", "s/a b", "s/>", "s/*", "s/.a", "s/a\x00", "s/\xff",
	} {
		_, err := m.Create(w.ctx, key, nil)
		wantErr(t, "Create", err, store.ErrKey)
		_, err = m.Replace(w.ctx, key, "1", nil)
		wantErr(t, "Replace", err, store.ErrKey)
		_, _, err = m.Get(w.ctx, key)
		wantErr(t, "Get", err, store.ErrKey)
		wantErr(t, "Delete", m.Delete(w.ctx, key, "1"), store.ErrKey)
	}
	for _, prefix := range []string{"s", "/", "../", "s//", "S/", "*/", "s/a"} {
		_, err := m.List(w.ctx, prefix, "", 0)
		wantErr(t, "List", err, store.ErrKey)
		for _, err := range m.Watch(w.ctx, prefix) {
			wantErr(t, "Watch", err, store.ErrKey)
		}
	}
	for _, err := range m.Watch(w.ctx, "") {
		wantErr(t, "Watch of all", err, store.ErrKey)
	}
}
