package watch

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// linked has a watcher follow what a link in the world's folder leads to.
func (w *world) linked(to string, out *bytes.Buffer) {
	w.t.Helper()
	link := filepath.Join(w.dir, "link")
	if err := os.Symlink(to, link); err != nil {
		w.t.Skip(err)
	}
	rule, err := NewRule("agent", filepath.Join(link, "**", "*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.start(func(c *Config) { c.Rules, c.Logger = []Rule{rule}, slog.New(slog.NewTextHandler(out, nil)) })
}

// A link to the whole file system, or to what the kernel shows as files, is refused as such a pattern is, and told of once.
func TestLinksToTooMuch(t *testing.T) {
	t.Parallel()
	refused := map[string]bool{string(filepath.Separator): true, "/proc": runtime.GOOS == "linux", "/sys/kernel": runtime.GOOS == "linux"}
	for to, want := range refused {
		synctest.Test(t, func(t *testing.T) {
			if _, err := os.Stat(to); err != nil || !want {
				return
			}
			w := newWorld(t)
			var out bytes.Buffer
			w.linked(to, &out)
			w.pass(5 * time.Minute)
			w.tell(filepath.Join(to, "x.jsonl"))
			w.pass(time.Minute)
			w.stop()
			if n := strings.Count(out.String(), "is not looked through"); n != 1 || w.opened > 0 {
				t.Errorf("a link to %s: told %d times, %d files opened:\n%s", to, n, w.opened, out.String())
			}
		})
	}
}

// A link to a folder is followed, as ever.
func TestALinkToAFolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var out bytes.Buffer
		w.write("a.jsonl", "1\n")
		w.linked(filepath.Join(w.dir, "logs"), &out)
		w.pass(time.Minute)
		w.stop()
		w.has(1, "1")
		if out.Len() > 0 {
			t.Errorf("told: %s", out.String())
		}
	})
}

func TestOffLimits(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]bool{
		"/": true, "/proc": true, "/proc/self/cwd": true, "/sys": true, "/dev/shm": true,
		"/home": false, "/home/me/proc": false, "/processes": false, "/device": false,
	} {
		if runtime.GOOS != "windows" && offLimits(dir) != want {
			t.Errorf("%s: got %t, want %t", dir, !want, want)
		}
	}
}

// A walk ends where it has seen too much, says so once, and what was followed before stays followed.
func TestAWalkIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var out bytes.Buffer
		w.write("m.jsonl", "1\n")
		w.start(func(c *Config) { c.Logger, c.entries = slog.New(slog.NewTextHandler(&out, nil)), 10 })
		w.pass(time.Minute)
		for i := range 20 {
			w.write(fmt.Sprintf("a%02d.txt", i), "x")
		}
		w.write("z.jsonl", "2\n")
		w.lost <- fsnotify.ErrEventOverflow
		w.pass(5 * time.Minute)
		w.write("m.jsonl", "3\n")
		w.pass(time.Minute)
		if err := os.Remove(w.path("m.jsonl")); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		w.stop()
		if n := strings.Count(out.String(), "more than is looked through"); n != 1 {
			t.Errorf("told %d times:\n%s", n, out.String())
		}
		if s, err := Load(w.state); err != nil || len(s.Files) != 1 || filepath.Base(s.Files[0].Path) != "z.jsonl" {
			t.Errorf("state: %+v, %v; want z.jsonl alone", s.Files, err)
		}
		w.has(1, "1", "2", "3")
	})
}

// TestStateThatCannotBeWritten: that the state cannot be written is said once, and again only where it could be in between.
func TestStateThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.state = filepath.Join(w.dir, "kept", "state.json")
		var out bytes.Buffer
		w.start(func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&out, nil)) })
		w.pass(time.Minute)
		if err := os.Mkdir(filepath.Dir(w.state), 0o700); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		if n := strings.Count(out.String(), "not on disk"); n != 1 {
			t.Errorf("warned %d times, want once:\n%s", n, out.String())
		}
		if err := os.RemoveAll(filepath.Dir(w.state)); err != nil {
			t.Fatal(err)
		}
		w.write("a.jsonl", "1\n")
		w.pass(time.Minute)
		w.stop()
		if n := strings.Count(out.String(), "not on disk"); n != 2 {
			t.Errorf("warned %d times, want once more:\n%s", n, out.String())
		}
	})
}
