package spool

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestForgetLooksIntoTmp: what is whole there would be rescued later, so that it goes whatever its age; of the rest only what
// a hook may still be writing stays.
func TestForgetLooksIntoTmp(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	if err := s.makeFolders(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	entry := func(body string) []byte {
		f, _ := s.sealer.pack(testEntry(body))
		return bytes.Join(f.parts, nil)
	}
	secret, other := entry(`{"a":"forget me"}`), entry(`{"a":"keep me"}`)
	for name, f := range map[string]struct {
		data []byte
		age  time.Duration
	}{
		"whole":     {secret, 0},
		"whole-old": {secret, time.Hour},
		"half":      {secret[:len(secret)-1], 0},
		"half-old":  {secret[:len(secret)-1], staleTmp},
		"other":     {other, time.Hour},
	} {
		path := filepath.Join(s.tmp(), name)
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-f.age), now.Add(-f.age)); err != nil {
			t.Fatal(err)
		}
	}
	n, closed, err := s.Forget(now, func(e Entry) bool { return bytes.Contains(e.Body, []byte("forget me")) })
	if n != 2 || err != nil || !slices.Equal(closed, []string{"half-old"}) {
		t.Errorf("Forget = %d, %v, %v; want 2, and the half one named", n, closed, err)
	}
	var left []string
	files, err := os.ReadDir(s.tmp())
	for _, f := range files {
		left = append(left, f.Name())
	}
	if want := []string{"half", "half-old", "other"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left %v, %v; want %v", left, err, want)
	}
}

// TestForgetWhileAHookWrites: an entry that is given its name in new, becomes a dead letter or is brought back, while Forget looks at another one goes
// like those that stay where they are.
func TestForgetWhileAHookWrites(t *testing.T) {
	t.Parallel()
	for _, move := range [][3]string{{"tmp/sealed", "new", "tmp/sealed"}, {"new", "new", "tmp/sealed"}, {"new", "bad", "new"}, {"new", "new", "bad"}} {
		first, to, from := move[0], move[1], move[2]
		s := keyed(t, t.TempDir())
		var names [2]string
		for i, folder := range []string{first, from} {
			names[i] = mustPut(t, s, testEntry(`{"a":1}`)).Name
			if err := os.Rename(s.path(names[i]), filepath.Join(s.in(folder), names[i])); err != nil {
				t.Fatal(err)
			}
		}
		moved := false
		n, closed, err := s.Forget(time.Now(), func(e Entry) bool {
			if !moved && e.Name == names[0] {
				moved = true
				_ = os.Rename(filepath.Join(s.in(from), names[1]), filepath.Join(s.in(to), names[1])) // one that is gone needs no move
			}
			return true
		})
		if n != 2 || len(closed) != 0 || err != nil || !moved {
			t.Errorf("%v: Forget = %d, %v, %v; want both, one of them moved: %v", move, n, closed, err, moved)
		}
	}
}
