package watch

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// day is a backlog as it is set by default.
func day(c *Config) { c.Backlog = 24 * time.Hour }

// stamp says when a file was changed last; the bubble's clock is not the file system's.
func (w *world) stamp(name string, at time.Time) {
	w.t.Helper()
	if err := os.Chtimes(w.path(name), at, at); err != nil {
		w.t.Fatal(err)
	}
}

// The daemon is away for longer than the backlog: what agents wrote meanwhile is read all the same, and what was old before
// is not.
func TestAwayForLongerThanTheBacklog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write("ancient.jsonl", "0\n")
		w.stamp("ancient.jsonl", time.Now().Add(-300*time.Hour))
		w.write("a.jsonl", "1\n")
		w.stamp("a.jsonl", time.Now())
		w.start(day)
		w.pass(time.Minute)
		w.stop()
		w.has(1, "1")
		w.told = nil
		w.pass(time.Hour)
		w.write("b.jsonl", "2\n")
		w.stamp("b.jsonl", time.Now())
		w.pass(60 * time.Hour)
		w.start(day)
		w.pass(time.Minute)
		w.stop()
		w.has(1, "1", "2")
	})
}

// The last look is that of a rule: what a new one finds is old by the backlog alone.
func TestANewRuleHasNoLastLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write("a.jsonl", "1\n")
		w.stamp("a.jsonl", time.Now())
		w.start(day)
		w.pass(time.Minute)
		w.stop()
		w.told = nil
		w.write("other/b.txt", "2\n")
		w.stamp("other/b.txt", time.Now().Add(time.Hour))
		w.pass(60 * time.Hour)
		rule, err := NewRule("agent", filepath.Join(w.dir, "logs", "other", "*.txt"))
		if err != nil {
			t.Fatal(err)
		}
		w.start(func(c *Config) { day(c); c.Rules = append(c.Rules, rule) })
		w.pass(time.Minute)
		w.stop()
		w.has(1, "1")
	})
}

// A watcher that ends before it read what it found, or what a file grew by, leaves that to the next one, however late.
func TestWhatWasNotReadYetIsNotForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.write("grown.jsonl", "1\n")
		w.stamp("grown.jsonl", time.Now())
		w.start(day)
		w.pass(72 * time.Hour)
		w.write("grown.jsonl", "2\n")
		w.write("new.jsonl", "3\n")
		w.stamp("grown.jsonl", time.Now())
		w.stamp("new.jsonl", time.Now())
		w.pass(time.Millisecond)
		w.stop()
		w.has(1, "1")
		w.told = nil
		w.pass(60 * time.Hour)
		w.start(day)
		w.pass(time.Minute)
		w.stop()
		w.has(2, "1", "2", "3")
	})
}

// How many are left alone for their age is said once.
func TestOldFilesAreToldOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{"a.jsonl", "b.jsonl"} {
			w.write(name, "1\n")
			w.stamp(name, time.Now().Add(-48*time.Hour))
		}
		var out bytes.Buffer
		w.start(func(c *Config) { day(c); c.Logger = slog.New(slog.NewTextHandler(&out, nil)) })
		w.pass(5 * time.Minute)
		w.stop()
		if n := strings.Count(out.String(), "left alone"); n != 1 || !strings.Contains(out.String(), "files=2") {
			t.Errorf("told %d times:\n%s", n, out.String())
		}
	})
}
