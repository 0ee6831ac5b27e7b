package index

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// TestPurge: when it returns, no file of the index holds what was forgotten, and nothing else is gone.
func TestPurge(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("claude-code", "a", "shop")
	gone := w.observe(s, "the zanzibar title", "and zanzibar in the narrative")
	kept := w.observe(s, "the kept title", "and more")
	dir := t.TempDir()
	x := w.mustOpen(dir)
	if !hasTerm(t, x, "zanzibar") {
		t.Fatal("the word was in no dictionary before: the search does not work")
	}
	w.put(events.Daemon, events.MemoryForgotten{IDs: []events.ID{gone}})
	if err := x.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !hasTerm(t, x, "zanzibar") {
		t.Error("the word has gone by itself: this test shows nothing of Purge")
	}
	if err := x.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hasTerm(t, x, "zanzibar") {
		t.Error("a dictionary holds the word still")
	}
	if old, err := filepath.Glob(filepath.Join(dir, "g*")); err != nil || len(old) != 1 {
		t.Errorf("stores %v, %v; want the new one alone", old, err)
	}
	if got := idsOf(mustSearch(t, x, Query{Text: "title"})); len(got) != 1 || got[0] != kept {
		t.Errorf("found %v, want %v", got, kept)
	}
	if err := x.Purge(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if err := x.Purge(t.Context()); err == nil {
		t.Error("a closed index was purged")
	}
}

// TestForgetErased: what is erased from the log without a record that says so goes too, and a rebuild does not bring it back.
func TestForgetErased(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("claude-code", "a", "shop")
	w.observe(s, "the zanzibar title", "and more")
	kept := w.observe(s, "the kept title", "and more")
	x := w.mustOpen(t.TempDir())
	if err := w.log.Erase(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if !hasTerm(t, x, "zanzibar") {
		t.Fatal("the word was in no dictionary before: this test shows nothing")
	}
	for range 2 {
		if err := errors.Join(x.Forget(t.Context(), 2), x.Purge(t.Context())); err != nil {
			t.Fatal(err)
		}
		if got := idsOf(mustSearch(t, x, Query{Text: "title"})); hasTerm(t, x, "zanzibar") || len(got) != 1 || got[0] != kept {
			t.Errorf("found %v, want %v, and no dictionary to hold the word", got, kept)
		}
	}
}

// hasTerm reports whether a dictionary of the store in use holds a term: scorch keeps those of removed documents.
func hasTerm(t *testing.T, x *Index, term string) bool {
	t.Helper()
	snap, err := x.store.Load().snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	fields, err := snap.Fields()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		dict, err := snap.FieldDictPrefix(field, []byte(term))
		if err != nil {
			t.Fatal(err)
		}
		e, err := dict.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e != nil {
			return true
		}
	}
	return false
}
