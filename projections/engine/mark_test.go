package engine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDistrust: a file is used that was closed and is as it was left, or that was open in this boot and is whole; nothing else is.
func TestDistrust(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, none := filepath.Join(dir, "views.db"), filepath.Join(dir, "none.db")
	f, err := OpenFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	size, sum, err := sumFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(dir, "torn.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(torn, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		path, mark, boot string
		trusted          bool
	}{
		"closed":                     {path, closedMark(size, sum), "b", true},
		"closed, of another length":  {path, closedMark(size+1, sum), "b", false},
		"closed, of another content": {path, closedMark(size, sum^1), "b", false},
		"open in this boot":          {path, openMark("b"), "b", true},
		"open in this boot, torn":    {torn, openMark("b"), "b", false},
		"open in another boot":       {path, openMark("a"), "b", false},
		"open in an unknown boot":    {path, openMark(""), "", false},
		"no mark":                    {path, "", "b", false},
		"another layout":             {path, "layout 1, open in boot b", "b", false},
		"no file":                    {none, "", "b", true},
	} {
		at := filepath.Join(t.TempDir(), markName)
		if err := os.WriteFile(at, []byte(tc.mark), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := lockMark(at)
		if err != nil {
			t.Fatal(err)
		}
		if why := m.distrust(tc.path, tc.boot); (why == "") != tc.trusted {
			t.Errorf("%s: %q, want it trusted: %t", name, why, tc.trusted)
		}
		if err := m.file.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestChecksumsKnowTheirPlace: a value counts in its own table alone, under its own key, and no byte moves from the key to the value.
func TestChecksumsKnowTheirPlace(t *testing.T) {
	t.Parallel()
	p := sumSeedOf("view", "table")
	stored := p.appendSum([]byte("key"), []byte("value"))
	if got, err := p.checkSum([]byte("key"), stored); err != nil || string(got) != "value" {
		t.Fatalf("got %q, %v", got, err)
	}
	for name, tc := range map[string]struct {
		place  sumSeed
		key    string
		stored []byte
	}{
		"another table":     {sumSeedOf("view", "other"), "key", stored},
		"another view":      {sumSeedOf("other", "table"), "key", stored},
		"another key":       {p, "kez", stored},
		"a longer key":      {p, "keyv", stored[1:]},
		"without its value": {p, "key", stored[5:]},
		"cut":               {p, "key", stored[:3]},
	} {
		if got, err := tc.place.checkSum([]byte(tc.key), tc.stored); err == nil {
			t.Errorf("%s: got %q, want it damaged", name, got)
		}
	}
}
