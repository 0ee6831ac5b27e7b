package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// settle is how long a file rests before it is read, and settleMost the longest that it waits for that: agents write a
	// few lines at once.
	settle     = 300 * time.Millisecond
	settleMost = 2 * time.Second

	// restAfter is how long nothing came before an agent that has said something counts as having stopped.
	restAfter = 30 * time.Second

	// tick is how often files are asked whether they are due, and saveEvery the least time between two writes of the state.
	tick      = 250 * time.Millisecond
	saveEvery = time.Second

	// maxReadings is how many readings are kept open: each may keep some megabytes.
	maxReadings = 32
)

// Sink records what transcripts say.
type Sink interface {
	// Open begins the reading of a transcript, from its beginning. It reads nothing.
	Open(agent, path string) (Reading, error)
}

// Reading is the reading of one transcript that grows. It is used by one goroutine, and needs no end.
type Reading interface {
	// Take records what r has: bytes from Taken.Offset of the call before on. When it returns without an error, all of it is
	// in the log but the last line, if that is not finished. After an error the reading is not used again. Rest says that
	// nothing more comes for now: then the agent's last words are its answer.
	Take(ctx context.Context, r io.Reader, rest bool) (Taken, error)
}

// Taken says how far a reading has come, from its beginning on.
type Taken struct {
	Offset   int64 // bytes of the lines that were read whole
	Lines    int
	Captured int // facts that were new
	Bad      int // lines that were not understood
}

// Config says what is followed. Sink, State and at least one of Rules are required.
type Config struct {
	Rules   []Rule
	Exclude []string // folders that are never looked at
	State   string   // file in which it is kept how far transcripts were read
	Sink    Sink
	Poll    time.Duration // between two looks through all folders. 0 means 30 s
	Backlog time.Duration // files older than this, and than the last look, are left alone until they grow. 0 means 24 h
	Logger  *slog.Logger  // nil: slog.Default
	Now     func() time.Time

	notify  func() (notifier, error) // nil: the system's
	entries int                      // seen in one walk at most. 0 means maxEntries
}

// Watcher follows transcripts. Run is all that it does.
type Watcher struct {
	cfg     Config
	notices notifier // nil: there are none
	folders map[string]bool
	files   map[string]*file // by path, symbolic links resolved
	dirty   bool             // the state is not on disk
	uses    uint64
	told    map[string]bool
	looked  map[string]time.Time // until when the last watcher looked for files, by rule; a new rule is not in it
}

// New returns a watcher, and reads nothing yet.
func New(cfg Config) (*Watcher, error) {
	switch {
	case len(cfg.Rules) == 0:
		return nil, errors.New("watch: no rules")
	case cfg.Sink == nil || cfg.State == "":
		return nil, errors.New("watch: no sink, or no file for its state")
	}
	cfg.Poll, cfg.Backlog = cmp.Or(cfg.Poll, 30*time.Second), cmp.Or(cfg.Backlog, 24*time.Hour)
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.entries = cmp.Or(cfg.entries, maxEntries)
	if cfg.notify == nil {
		cfg.notify = newSystem
	}
	cfg.Exclude = slices.Clone(cfg.Exclude)
	for i, dir := range cfg.Exclude {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			cfg.Exclude[i] = real
		}
	}
	return &Watcher{cfg: cfg, folders: map[string]bool{}, files: map[string]*file{}, told: map[string]bool{}, looked: map[string]time.Time{}}, nil
}

// Run follows transcripts until ctx is done, and returns nil then. What was read is on disk when it returns, and how far.
func (w *Watcher) Run(ctx context.Context) error {
	w.recall()
	if n, err := w.cfg.notify(); err != nil {
		w.cfg.Logger.Warn("the system gives no notice of files; folders are looked at every now and then", "every", w.cfg.Poll, "err", err)
	} else {
		w.notices = n
		defer n.close()
	}
	w.scan()
	w.tellOld()
	w.dirty = true // what is followed now is seen at once
	w.save()
	defer w.end()
	ticks, polls, saves := time.NewTicker(tick), time.NewTicker(w.cfg.Poll), time.NewTicker(saveEvery)
	defer ticks.Stop()
	defer polls.Stop()
	defer saves.Stop()
	var changes <-chan string
	if w.notices != nil {
		changes = w.notices.changes()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case path := <-changes:
			w.notice(path)
		case <-polls.C:
			w.scan()
		case <-saves.C:
			w.save()
		case <-ticks.C:
			w.work(ctx)
		}
	}
}

// tellOld says how many files are left alone for their age.
func (w *Watcher) tellOld() {
	n := 0
	for _, f := range w.files {
		if f.old {
			n++
		}
	}
	if n > 0 {
		w.cfg.Logger.Info("transcripts that are older are left alone until they grow", "files", n, "backlog", w.cfg.Backlog)
	}
}

// end lets all files go, and keeps how far they were read, and until when files were looked for.
func (w *Watcher) end() {
	w.dirty = true
	for _, f := range w.files {
		w.drop(f)
	}
	w.save()
}

// recall takes up what the last watcher kept.
func (w *Watcher) recall() {
	s, err := Load(w.cfg.State)
	if err != nil {
		w.cfg.Logger.Warn("how far transcripts were read is not known; they are read again, and what is known is passed over", "err", err)
		return
	}
	for _, rule := range s.Rules {
		w.looked[rule] = s.At.Add(-2 * w.cfg.Poll) // what came right before may not have been seen
	}
	for _, f := range s.Files {
		known := &file{File: f, seen: true}
		if !f.Rested {
			known.Size = -1 // so that it is read, and told that it rests
		}
		w.files[f.Path] = known
	}
}

// maxWork is how long files are read before notices are looked at again.
const maxWork = time.Second

// work reads what is due, what has waited longest first.
func (w *Watcher) work(ctx context.Context) {
	began := w.cfg.Now()
	var due []*file
	for _, f := range w.files {
		if f.due(began) || f.resting(began) {
			due = append(due, f)
		}
	}
	slices.SortFunc(due, func(a, b *file) int { return cmp.Or(a.since.Compare(b.since), strings.Compare(a.Path, b.Path)) })
	for _, f := range due {
		if ctx.Err() != nil || w.cfg.Now().Sub(began) > maxWork {
			return
		}
		w.take(ctx, f, f.changed.IsZero())
	}
}

// once logs a warning the first time.
func (w *Watcher) once(about, message string, args ...any) {
	if !w.told[about] {
		w.told[about] = true
		w.cfg.Logger.Warn(message, args...)
	}
}

// String is AGENT=PATTERN.
func (r Rule) String() string { return fmt.Sprintf("%s=%s", r.Agent, r.Pattern) }
