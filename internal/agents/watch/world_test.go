package watch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// world is a folder of transcripts, and what was recorded of them. It lives in a bubble: its clock is the bubble's.
type world struct {
	t     *testing.T
	dir   string
	state string

	mu     sync.Mutex     // guards the fields below
	lines  map[string]int // how often each line was handed on
	rests  int            // how often a reading was told that nothing comes
	opened int
	fail   error // of the next Take
	told   chan fsnotify.Event
	lost   chan error
	deaf   bool // nobody tells of changes
	cancel context.CancelFunc
	done   chan error
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir(), lines: map[string]int{}}
	w.state = filepath.Join(w.dir, "state.json")
	return w
}

// reading keeps whole lines, as those of real transcripts do.
type reading struct {
	w     *world
	taken Taken
}

func (w *world) Open(string, string) (Reading, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened++
	return &reading{w: w}, nil
}

func (r *reading) Take(_ context.Context, in io.Reader, rest bool) (Taken, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return Taken{}, err
	}
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if err := r.w.fail; err != nil {
		r.w.fail = nil
		return Taken{}, err
	}
	if rest {
		r.w.rests++
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	for line := range bytes.Lines(text[:end]) {
		r.w.lines[strings.TrimSpace(string(line))]++
		r.taken.Lines++
	}
	r.taken.Offset += int64(end)
	return r.taken, nil
}

// start runs a watcher over the world's folder.
func (w *world) start(change func(*Config)) *Watcher {
	w.t.Helper()
	rule, err := NewRule("agent", filepath.Join(w.dir, "logs", "**", "*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.told, w.lost = make(chan fsnotify.Event, 100), make(chan error, 1)
	cfg := Config{
		Rules: []Rule{rule}, Sink: w, State: w.state, Backlog: 100 * 365 * 24 * time.Hour, Logger: slog.New(slog.DiscardHandler),
		notify: func() (*notices, error) {
			if w.deaf {
				return nil, errors.New("no notices here")
			}
			return &notices{w.told, w.lost, func(string) error { return nil }, func() error { return nil }}, nil
		},
	}
	if change != nil {
		change(&cfg)
	}
	watcher, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	w.cancel, w.done = cancel, make(chan error, 1)
	go func() { w.done <- watcher.Run(ctx) }()
	synctest.Wait()
	return watcher
}

// stop ends the watcher; what it knows is on disk then.
func (w *world) stop() {
	w.t.Helper()
	w.cancel()
	if err := <-w.done; err != nil {
		w.t.Errorf("Run: %v", err)
	}
}

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) path(name string) string {
	return filepath.Join(w.dir, "logs", filepath.FromSlash(name))
}

// write appends to a file and tells of it.
func (w *world) write(name, text string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.tell(path)
}

func (w *world) tell(path string) {
	if w.told != nil && !w.deaf {
		w.told <- fsnotify.Event{Name: path, Op: fsnotify.Write}
	}
}

// has checks which lines were handed on, and that none came more often than it may.
func (w *world) has(most int, want ...string) {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	got := slices.Sorted(maps.Keys(w.lines))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("got the lines %q, want %q", got, want)
	}
	for line, n := range w.lines {
		if n > most {
			w.t.Errorf("%q came %d times, want at most %d", line, n, most)
		}
	}
}
