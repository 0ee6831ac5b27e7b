package turn

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// Log reads one record. Its errors are those of eventlog.Log.
type Log interface {
	Get(ctx context.Context, at events.Position) (events.Record, error)
}

// Checker looks claims up in the repository that a folder lies in. Check returns one claim for each hash, in order; what it
// cannot find out is events.Unknown. Origins tells whose words the files hold that were printed by work in a folder, and Foreign whether
// some revisions hold others' words. All give up by themselves in a few seconds. It is safe for concurrent use.
type Checker interface {
	Check(ctx context.Context, repo string, hashes []string) []events.Claim
	Origins(ctx context.Context, cwd string, files []string) evidence.Origin
	Foreign(ctx context.Context, cwd string, revisions []evidence.Revisions) (foreign, known bool)
}

// Tracker finds out which files shell commands changed. Changes returns the files below dir that changed while any of the
// commands ran, absolute, a few hundred at most. It gives up by itself in a few seconds, and is safe for concurrent use.
type Tracker interface {
	Changes(ctx context.Context, dir string, ran []evidence.RunWindow) []string
}

// Config is what turns need. Log is required by Load alone.
type Config struct {
	Log     Log
	Checker Checker // nil: every claim is unknown
	Tracker Tracker // nil: what a shell changed without saying so is not known

	// Replaced returns those of the observations with these ids that stand no more: a person corrected them or took them back, or they
	// were observed again, or their work was undone. A summary does not read them. It is safe for concurrent use. nil: none are.
	Replaced func(ctx context.Context, ids []events.ID) (map[events.ID]bool, error)

	// Written returns those of some files of a project, by its root, that an agent's own edits made. It is safe for concurrent use.
	// nil: none are known.
	Written func(ctx context.Context, root string, files []string) ([]string, error)

	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // is told of records that cannot be read; nil: nobody is
	NewID  func() events.ID // of answers, observations and summaries, UUIDv7; nil: from crypto/rand
}

// Pipeline carries turns out. It keeps nothing from one to the next, and is safe for concurrent use.
type Pipeline struct {
	cfg Config
}

// New returns a Pipeline.
func New(c Config) *Pipeline {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() events.ID { return uuid.Must(uuid.NewV7()) }
	}
	return &Pipeline{cfg: c}
}
