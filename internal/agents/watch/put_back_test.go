package watch

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// backedUp is a log in which a test records what a world's sink does not, and of which it puts a backup back.
type backedUp struct {
	*eventlog.Bolt
	w      *world
	failed error // of Last
}

func (w *world) openLog(path string) *backedUp {
	w.t.Helper()
	log, err := eventlog.Open(path, eventlog.Config{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = log.Close() }) // a test of the log holds what its end is
	return &backedUp{Bolt: log, w: w}
}

// Last fails where a test has it fail.
func (l *backedUp) Last(ctx context.Context) (events.Position, error) {
	if l.failed != nil {
		return 0, l.failed
	}
	return l.Bolt.Last(ctx)
}

// grow records something.
func (l *backedUp) grow() {
	l.w.t.Helper()
	draft := events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: events.PromptSubmitted{Text: "x"}}
	if _, err := eventlog.AppendEnd(l.w.t.Context(), l, events.SessionIDOf("a", "b").Stream(), draft); err != nil {
		l.w.t.Fatal(err)
	}
}

// backup returns the log as it is now, to be put back.
func (l *backedUp) backup() *backedUp {
	l.w.t.Helper()
	path := filepath.Join(l.w.t.TempDir(), "backup")
	if err := l.Backup(l.w.t.Context(), path); err != nil {
		l.w.t.Fatal(err)
	}
	return l.w.openLog(path)
}

// into has a watcher record in log, with a backlog as it is set by default.
func into(log *backedUp) func(*Config) { return func(c *Config) { day(c); c.Log = log } }

// hadTimes checks how often each line was handed on.
func (w *world) hadTimes(want map[string]int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for line, n := range want {
		if w.lines[line] != n {
			w.t.Errorf("%q came %d times, want %d", line, w.lines[line], n)
		}
	}
}

// A file was written while the daemon was away and read when it was back, which the backup that is put back later was made right before.
// The file is read again, however long before that it had changed, and however long ago that is.
func TestWhatALogPutBackLacks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		away, later time.Duration // until the file is read, and from then on until the last state is written before the backup is put back
	}{
		{name: "read soon, put back soon", away: 2 * time.Hour},
		{name: "read soon, put back later", away: 2 * time.Hour, later: 100 * time.Hour},
		{name: "read later, put back soon", away: 60 * time.Hour},
		{name: "read later, put back later", away: 60 * time.Hour, later: 100 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				log := w.openLog(filepath.Join(w.dir, "log"))
				w.write("ancient.jsonl", "0\n")
				w.stamp("ancient.jsonl", time.Now().Add(-300*time.Hour))
				w.write("a.jsonl", "1\n")
				w.stamp("a.jsonl", time.Now())
				w.start(into(log))
				w.pass(time.Minute)
				log.grow()
				w.stop()
				w.told = nil
				w.pass(time.Hour)
				w.write("b.jsonl", "2\n")
				w.stamp("b.jsonl", time.Now())
				w.pass(c.away)
				log.grow() // as a daemon does that starts
				older := log.backup()
				w.start(into(log))
				w.pass(10 * time.Second)
				log.grow() // what b says
				w.pass(2 * time.Minute)
				w.stop()
				w.told = nil
				w.pass(c.later)
				w.start(into(log))
				w.pass(time.Minute)
				w.stop()
				w.hadTimes(map[string]int{"0": 0, "2": 1})
				w.told = nil
				w.pass(time.Minute)
				w.start(into(older))
				w.pass(5 * time.Minute)
				w.stop()
				w.hadTimes(map[string]int{"0": 0, "2": 2})
			})
		})
	}
}

// While it cannot be known what the log holds, the state is written all the same, which is said once. What was read meanwhile is read again
// by the next watcher, as it may have another log: the mark of before does not name it.
func TestTheLogHasNoMark(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		log := w.openLog(filepath.Join(w.dir, "log"))
		w.write("a.jsonl", "1\n")
		w.stamp("a.jsonl", time.Now())
		w.start(into(log))
		w.pass(time.Second)
		log.grow() // what a says
		w.pass(time.Minute)
		w.stop()
		before, err := Load(w.state)
		if err != nil || before.Log.Position != 1 {
			t.Fatalf("%+v, %v; want a state that names a record", before, err)
		}
		older := log.backup()
		log.failed = errors.New("the log cannot be read")
		var out bytes.Buffer
		w.start(func(c *Config) { into(log)(c); c.Logger = slog.New(slog.NewTextHandler(&out, nil)) })
		w.write("b.jsonl", "2\n")
		w.stamp("b.jsonl", time.Now())
		w.pass(time.Second)
		log.grow() // what b says
		w.pass(time.Minute)
		w.stop()
		if s, err := Load(w.state); err != nil || len(s.Files) != 2 || !s.At.After(before.At) || s.Log != before.Log {
			t.Errorf("state: %+v, %v; want two files, and the mark %+v", s, err, before.Log)
		}
		if n := strings.Count(out.String(), "level=WARN"); n != 1 {
			t.Errorf("%d warnings:\n%s", n, out.String())
		}
		w.start(into(older))
		w.pass(time.Minute)
		w.stop()
		w.hadTimes(map[string]int{"1": 1, "2": 2})
		w.start(into(older))
		w.pass(time.Minute)
		w.stop()
		w.hadTimes(map[string]int{"1": 1, "2": 2})
	})
}
