package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestFollows(t *testing.T) {
	t.Parallel()
	for _, deaf := range []bool{false, true} {
		t.Run(fmt.Sprintf("deaf %t", deaf), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.deaf = deaf
				wait := 3 * time.Second
				if deaf {
					wait = 35 * time.Second // a look through all folders, and a rest
				}
				w.write("a/one.jsonl", "1\n2\n")
				w.start(nil)
				w.pass(wait)
				w.has(1, "1", "2")
				w.write("a/one.jsonl", "3\n4")
				w.write("a/no.txt", "not a transcript\n")
				w.write("b/new/deep/two.jsonl", "5\n")
				w.tell(w.path("b"))
				w.pass(wait)
				w.has(1, "1", "2", "3", "5")
				w.write("a/one.jsonl", "x\n")
				w.pass(wait)
				w.has(1, "1", "2", "3", "4x", "5")
				w.stop()
			})
		})
	}
}

// After a restart a file that has not grown is not read; one that has is read from its beginning, for what stands in it
// belongs together.
func TestRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write("same.jsonl", "1\n")
		w.write("grown.jsonl", "2\n")
		w.start(nil)
		w.pass(time.Minute)
		w.stop()
		if w.opened != 2 || w.rests != 2 {
			t.Fatalf("%d readings, %d rests", w.opened, w.rests)
		}
		w.write("grown.jsonl", "3\n")
		w.start(nil)
		w.pass(time.Minute)
		w.stop()
		if w.opened != 3 {
			t.Errorf("%d readings, want one more for the file that grew", w.opened)
		}
		w.has(2, "1", "2", "3")
		if w.lines["1"] != 1 || w.lines["2"] != 2 {
			t.Errorf("lines came %v times", w.lines)
		}
		s, err := Load(w.state)
		if err != nil || len(s.Files) != 2 || s.Files[0].Offset != 4 || s.Files[0].Lines != 2 || !s.Files[0].Rested {
			t.Errorf("state: %+v, %v", s, err)
		}
	})
}

// The daemon dies behind the log's append and before the state is written: lines come twice, none is lost.
func TestCrashBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write("a.jsonl", "1\n")
		w.start(nil)
		w.pass(5 * time.Second)
		before, err := os.ReadFile(w.state)
		if err != nil {
			t.Fatal(err)
		}
		w.write("a.jsonl", "2\n")
		w.pass(5 * time.Second)
		w.stop()
		if err := os.WriteFile(w.state, before, 0o600); err != nil {
			t.Fatal(err)
		}
		w.start(nil)
		w.pass(5 * time.Second)
		w.stop()
		w.has(2, "1", "2")
		if w.lines["2"] != 2 {
			t.Error("what the state does not tell of is not read again")
		}
	})
}

// A reading that was not told that its agent rests is told so by the next watcher.
func TestRestIsMadeUpFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write("a.jsonl", "1\n")
		w.start(nil)
		w.pass(5 * time.Second)
		w.stop()
		if w.rests != 0 {
			t.Fatalf("%d rests after five seconds", w.rests)
		}
		w.start(nil)
		w.pass(time.Minute)
		w.write("a.jsonl", "2\n")
		w.pass(time.Minute)
		w.stop()
		if w.rests != 2 {
			t.Errorf("%d rests, want one after each line", w.rests)
		}
	})
}

func TestReplacedFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(t *testing.T, w *world)
		want   []string
	}{
		{"cut, and grown anew", func(t *testing.T, w *world) {
			if err := os.Truncate(w.path("a.jsonl"), 0); err != nil {
				t.Fatal(err)
			}
			w.write("a.jsonl", "new\n")
		}, []string{"1", "22", "new"}},
		{"rewritten, and longer", func(t *testing.T, w *world) {
			if err := os.WriteFile(w.path("a.jsonl"), []byte("other\nlines\nand more\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			w.tell(w.path("a.jsonl"))
		}, []string{"1", "22", "other", "lines", "and more"}},
		{"rotated, with a line that was not read yet", func(t *testing.T, w *world) {
			w.write("a.jsonl", "last\n")
			if err := os.Rename(w.path("a.jsonl"), w.path("a.jsonl.1")); err != nil {
				t.Fatal(err)
			}
			w.write("a.jsonl", "a longer line in a new file\n")
		}, []string{"1", "22", "last", "a longer line in a new file"}},
		{"removed, and made again", func(t *testing.T, w *world) {
			if err := os.Remove(w.path("a.jsonl")); err != nil {
				t.Fatal(err)
			}
			w.pass(time.Minute)
			w.write("a.jsonl", "again\n")
		}, []string{"1", "22", "again"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.write("a.jsonl", "1\n22\n")
				w.start(nil)
				w.pass(5 * time.Second)
				c.change(t, w)
				w.pass(5 * time.Second)
				w.stop()
				w.has(1, c.want...)
			})
		})
	}
}

// A sink that refuses is asked again, later and later, and nothing is lost.
func TestRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fail = errors.New("the disk is full")
		w.write("a.jsonl", "1\n")
		w.start(nil)
		w.pass(900 * time.Millisecond)
		w.has(1)
		w.pass(5 * time.Second)
		w.has(1, "1")
		w.stop()
		if s, err := Load(w.state); err != nil || s.Files[0].Error != "" {
			t.Errorf("state: %+v, %v", s, err)
		}
	})
}

// What is old when it is first seen is left alone until it grows; then it is read whole.
func TestBacklog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write("old.jsonl", "1\n")
		old := time.Now().Add(-48 * time.Hour)
		if err := os.Chtimes(w.path("old.jsonl"), old, old); err != nil {
			t.Fatal(err)
		}
		w.start(func(c *Config) { c.Backlog = 24 * time.Hour })
		w.pass(time.Minute)
		w.has(1)
		w.write("old.jsonl", "2\n")
		w.pass(time.Minute)
		w.has(1, "1", "2")
		w.stop()
	})
}

func TestExcludedAndLinked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write("home/own.jsonl", "own\n")
		if err := os.WriteFile(filepath.Join(w.dir, "secret"), []byte("secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(w.dir, "secret"), w.path("link.jsonl")); err != nil {
			t.Skip(err)
		}
		w.start(func(c *Config) { c.Exclude = []string{w.path("home")} })
		w.write("home/own2.jsonl", "own\n")
		w.tell(w.path("link.jsonl"))
		w.pass(time.Minute)
		w.has(1)
		w.stop()
	})
}

// More files than readings may be open lose nothing: those that are let go are read from their beginning.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		want := []string{}
		for round := range 2 {
			for i := range maxReadings + 5 {
				line := fmt.Sprintf("%d of %d", round, i)
				want = append(want, line)
				w.write(fmt.Sprintf("%d.jsonl", i), line+"\n")
			}
			if round == 0 {
				w.start(nil)
			}
			w.pass(10 * time.Second)
		}
		w.has(2, want...)
		w.stop()
	})
}

func TestStateThatIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"version":4711}`} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			if err := os.WriteFile(w.state, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(w.state); err == nil {
				t.Errorf("%q is a state", text)
			}
			w.write("a.jsonl", "1\n")
			w.start(nil)
			w.pass(5 * time.Second)
			w.stop()
			w.has(1, "1")
		})
	}
}

// TestAFolderMadeAgain: notices are asked for of a folder that was removed, or moved away, and made again, and of those in it.
func TestAFolderMadeAgain(t *testing.T) {
	t.Parallel()
	for _, op := range []fsnotify.Op{fsnotify.Remove, fsnotify.Rename} {
		synctest.Test(t, func(t *testing.T) {
			w, asked := newWorld(t), map[string]int{}
			w.start(func(c *Config) {
				c.notify = func() (*notices, error) {
					add := func(dir string) error {
						asked[dir]++
						return nil
					}
					return &notices{w.told, w.lost, add, func() error { return nil }}, nil
				}
			})
			dir, inner := w.path("project"), w.path("project/day")
			for _, line := range []string{"one", "two"} {
				w.write("project/day/a.jsonl", line+"\n")
				w.tell(dir)
				w.pass(time.Second)
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				w.told <- fsnotify.Event{Name: dir, Op: op}
				w.pass(time.Second)
			}
			w.has(1, "one", "two")
			w.stop()
			if asked[dir] != 2 || asked[inner] != 2 {
				t.Errorf("%s: notices were asked for %d and %d times, want 2", op, asked[dir], asked[inner])
			}
		})
	}
}

// The system's own notices: outside any bubble, for they come from the system.
func TestSystemNotices(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("notices are tried on Linux and macOS")
	}
	dir := t.TempDir()
	n, err := systemNotices()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.add(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-n.changes:
		if got.Name != path {
			t.Errorf("got a notice of %q, want %q", got, path)
		}
	case <-time.After(time.Minute):
		t.Error("no notice came")
	}
	if err := n.close(); err != nil {
		t.Error(err)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, base string
		want          error
	}{
		{"/home/me/.codex/sessions", "/home/me/.codex/sessions", nil},
		{"/home/me/*/x.jsonl", "/home/me", nil},
		{"/home/me/one.jsonl", "/home/me", nil},
		{"/a//b/../c/**", "/a/c", nil},
		{"/", "", ErrRoot}, {"/**/*.jsonl", "", ErrRoot}, {"/*", "", ErrRoot}, {"//**", "", ErrRoot}, {"/home/../*.jsonl", "", ErrRoot},
		{"/x.jsonl", "", ErrRoot},
		{"sessions/*.jsonl", "", ErrRelative}, {"~/x", "", ErrRelative}, {"", "", ErrRelative},
		{"/a/[", "", ErrPattern},
	} {
		r, err := NewRule("agent", c.pattern)
		if !errors.Is(err, c.want) || r.Base() != c.base {
			t.Errorf("%q: got %q, %v; want %q, %v", c.pattern, r.Base(), err, c.base, c.want)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, yes, no string
	}{
		{"/b", "x.jsonl a/x.jsonl a/b/c/x.jsonl", "x.json x.jsonl/y"},
		{"/b/*/*.jsonl", "a/x.jsonl", "x.jsonl a/b/x.jsonl"},
		{"/b/**/t/*.jsonl", "t/x.jsonl a/t/x.jsonl a/b/t/x.jsonl", "x.jsonl t/a/x.jsonl"},
		{"/b/20??/**", "2026/x 2026/a/b", "202/x"},
		{"/b/[0-9]*.jsonl", "1x.jsonl", "x.jsonl"},
		{"/b/one.jsonl", "one.jsonl", "two.jsonl a/one.jsonl"},
	} {
		r, err := NewRule("agent", c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, rel := range strings.Fields(c.yes) {
			if !r.matches(rel) {
				t.Errorf("%s does not match %s", c.pattern, rel)
			}
		}
		for _, rel := range strings.Fields(c.no) {
			if r.matches(rel) {
				t.Errorf("%s matches %s", c.pattern, rel)
			}
		}
	}
}

func FuzzRule(f *testing.F) {
	for _, s := range []string{"/a/**/b*.jsonl", "/a/[a-z]", "/**/**/**", "/a/\\", "/a/[]-]"} {
		f.Add(s, "a/b/c")
	}
	f.Fuzz(func(t *testing.T, pattern, rel string) {
		r, err := NewRule("agent", pattern)
		if err != nil {
			return
		}
		if r.Base() == "/" || !filepath.IsAbs(r.Base()) {
			t.Errorf("%q is anchored at %q", pattern, r.Base())
		}
		r.matches(rel)
	})
}
