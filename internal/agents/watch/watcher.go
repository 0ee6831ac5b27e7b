package watch

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog"
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
	Log     eventlog.Reader // in which Sink records. nil: State is never doubted
	Poll    time.Duration   // between two looks through all folders. 0 means 30 s
	Backlog time.Duration   // files older than this, and than the last look, are left alone until they grow. 0 means 24 h
	Logger  *slog.Logger    // nil: slog.Default
	Now     func() time.Time

	notify  func() (*notices, error) // nil: the system's
	entries int                      // seen in one walk at most. 0 means maxEntries
}

// Watcher follows transcripts. Run is all that it does.
type Watcher struct {
	cfg     Config
	notices *notices // without any, add is nil
	folders map[string]bool
	files   map[string]*file // by path, symbolic links resolved
	dirty   bool             // the state is not on disk
	mark    eventlog.Mark    // of the log, when it could be read last
	marked  time.Time        // when that was: what was read before is in what mark names
	uses    uint64
	warned  map[string]bool      // what once was called about
	scanned map[string]time.Time // since when files are looked for that were never seen, by rule; a new rule is not in it
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
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.entries = cmp.Or(cfg.entries, maxEntries)
	if cfg.notify == nil {
		cfg.notify = systemNotices
	}
	cfg.Exclude = slices.Clone(cfg.Exclude)
	for i, dir := range cfg.Exclude {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			cfg.Exclude[i] = real
		}
	}
	return &Watcher{cfg: cfg, notices: &notices{}, folders: map[string]bool{}, files: map[string]*file{}, warned: map[string]bool{}, scanned: map[string]time.Time{}}, nil
}

// once logs a warning the first time.
func (w *Watcher) once(about, message string, args ...any) {
	if !w.warned[about] {
		w.warned[about] = true
		w.cfg.Logger.Warn(message, args...)
	}
}
