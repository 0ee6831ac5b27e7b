package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// AppendTimeout is the time in which what a hook reports is on disk, or is refused for now.
const AppendTimeout = 5 * time.Second

// Injections knows what agents were given. A *recall.Recall does; see there for its errors.
type Injections interface {
	// InjectedLines returns the lines that may have been injected into a session.
	InjectedLines(ctx context.Context, session events.SessionID) ([]string, error)
	// Lines returns the lines that the rows may be injected as whose ids begin so.
	Lines(ctx context.Context, prefixes ...string) ([]string, error)
	// InjectionsKnown is what every answer of InjectedLines that begins now knows at least.
	InjectionsKnown() events.Position
}

// Repos says what git knows of a folder. An *evidence.Checker is one.
type Repos interface {
	// Repo describes the repository that cwd lies in; ok is false where there is none.
	Repo(ctx context.Context, cwd string) (repo evidence.Repo, ok bool)
}

// Config is what a Pipeline needs. Sink, Log and Injections are required; zero values of the rest mean the defaults.
type Config struct {
	Sink       actors.Sink
	Log        eventlog.Log // is only read
	Injections Injections
	Projects   Registered   // nil: what is known of folders is read from the log
	Repos      Repos        // nil: sessions are recorded without git facts
	Spool      *spool.Spool // what hooks kept, and dead letters. nil: nothing is drained, what is refused is lost
	Home       string       // where it is noted when an agent's last hook was called

	// Secrets takes secrets out of each text that is about to be recorded. nil: nothing is taken out
	Secrets agents.Redact
	// Rules say what is not recorded. nil: only what never is
	Rules *privacy.Rules

	NoPreferences bool // what a person says of how to work is not kept for later sessions

	DrainEvery time.Duration // between two readings of the spool. 0 means 2 s

	Logger *slog.Logger     // nil: discarded
	Now    func() time.Time // nil: time.Now
}

// Counts is how often something became of a report since the start. Each number is read and raised atomically.
type Counts struct {
	Recorded    atomic.Int64 // payloads of hooks that led to new records
	Duplicates  atomic.Int64 // payloads of hooks that were on record already
	Ignored     atomic.Int64 // payloads of which nothing is recorded
	DeadLetters atomic.Int64 // payloads that were put into the spool's bad folder
	Lost        atomic.Int64 // payloads that were refused and could not be put there
	Drained     atomic.Int64 // payloads that came out of the spool
}

// Pipeline takes reports from every source. Its methods are safe for concurrent use.
type Pipeline struct {
	Counts Counts

	cfg         Config
	spool       entries // cfg.Spool, to the drain
	logger      *slog.Logger
	projects    *projectCache
	registry    *registry
	echoes      echoes
	hidden      hidden
	remarks     remarks
	plain       plainTexts
	noted       sync.Map         // by agent: the time.Time of a hook that was noted; see noteReported
	deadLetters deadLetters      // payloads on their way into bad
	stuck       stuckFiles       // of the spool
	passes      chan chan<- bool // asks Drain for a pass through the spool, and takes whether it went through the whole
	drainEnded  chan struct{}    // closed when Drain returns
	drained     chan struct{}    // closed after the first whole pass through the spool
	begun       events.Position  // the log's end at the start: what was given before it is in the views once they know it
}

// New returns a pipeline. Nothing is drained before Drain.
func New(cfg Config) (*Pipeline, error) {
	if cfg.Sink == nil || cfg.Log == nil || cfg.Injections == nil {
		return nil, errors.New("capture: a sink, a log and injections are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.DrainEvery = cmp.Or(cfg.DrainEvery, 2*time.Second)
	cfg.Rules = cmp.Or(cfg.Rules, new(privacy.Rules))
	begun, err := cfg.Log.Last(context.Background())
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	registry, err := newRegistry(context.Background(), cfg.Projects, cfg.Log)
	if err != nil {
		return nil, err
	}
	return &Pipeline{
		registry: registry, cfg: cfg, spool: cfg.Spool, passes: make(chan chan<- bool),
		drainEnded: make(chan struct{}), drained: make(chan struct{}),
		projects: newProjectCache(cfg.Repos, registry.folderID, cfg.Now), begun: begun,
		logger: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), echoes: echoes{injected: map[events.SessionID]*agents.InjectedText{}},
		hidden:      hidden{sessions: map[events.SessionID]events.CaptureHidden{}},
		deadLetters: deadLetters{busy: map[string]int{}}, stuck: stuckFiles{names: map[string]bool{}},
	}, nil
}
