package homedir

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestScratch: another comparison takes away what is too old to be of one that runs, and an erasure takes all of it, and nothing else.
func TestScratch(t *testing.T) {
	t.Parallel()
	p := PathsOf(filepath.Join(t.TempDir(), "home[1")) // a name that is no pattern
	now := time.Now()
	old, err := p.MakeScratch(now)
	if err != nil {
		t.Fatal(err)
	}
	recent, err := p.MakeScratch(now)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{p.Log, filepath.Join(p.Home, "compare-file"), filepath.Join(old, "log.db")} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := now.Add(-scratchAge - time.Minute)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	last, err := p.MakeScratch(now)
	if err != nil {
		t.Fatal(err)
	}
	want := func(path string, there bool) {
		t.Helper()
		if _, err := os.Stat(path); (err == nil) != there {
			t.Errorf("%s: got %v, want it there: %v", path, err, there)
		}
	}
	want(old, false)
	want(recent, true)
	if err := p.ClearScratch(); err != nil {
		t.Fatal(err)
	}
	want(recent, false)
	want(last, false)
	want(p.Log, true)
	want(filepath.Join(p.Home, "compare-file"), true)
}
