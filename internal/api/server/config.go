package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/vectors"
)

// System is what acts on sessions. An *actors.System is one.
type System interface {
	actors.Sink
	// Status says what is going on.
	Status(ctx context.Context) (actors.Status, error)
}

// injector chooses the memory that an agent is given. A *recall.Recall is one.
type injector interface {
	Wait(ctx context.Context, at events.Position) error
	Context(ctx context.Context, ask recall.Ask) (recall.Context, error)
}

// watermark says which position every answer that begins now knows at least. A *recall.Recall is one.
type watermark interface {
	Position() events.Position
	Wait(ctx context.Context, at events.Position) error
}

// Config is what a Server needs. System, Capture, Log, Views, Index and Recall are required; zero values of the rest mean the
// defaults.
type Config struct {
	System  System
	Log     eventlog.Log
	Views   *projections.Views
	Index   *index.Index
	Recall  *recall.Recall
	Capture *capture.Pipeline // takes what hooks, transcripts and imports report
	Spool   *relay.Spool      // what hooks kept, and dead letters; shown, and searched by who forgets. nil: there is none

	Checker   curation.Checker // nil: claims are not looked at again
	Eraser    Eraser           // nil: nothing is forgotten
	Providers []api.Provider   // that may be asked: the chosen one, what stands in for it, then those of tiers alone

	Home     string            // shown by status; its notes of unanswered hooks are read
	Token    string            // of the loopback address; empty: nobody gets in there
	Version  string            // of the program
	PID      int               // shown by status
	Settings map[string]string // in force, shown by status; secrets never

	// NewToken makes another token and keeps it, for POST /v1/token/rotate. It must be safe for concurrent use. nil: that is
	// refused
	NewToken func() (string, error)
	// Price is what tokens of a provider's model cost in US dollars; ok is false where that is not known. It must be quick.
	// nil: it never is
	Price func(provider, model string, tokens events.Usage) (usd float64, ok bool)
	// Notice is a line for the person at the start of a session, or nothing. It must be quick. nil: never one
	Notice func(ctx context.Context) string
	// Shutdown is called, once or more, when somebody asks the daemon to stop. It must not wait for that. nil: POST
	// /v1/stop is refused
	Shutdown func(cause string)

	Vectors *vectors.Vectors // shown by status; nil: there are none

	Briefs Briefs // memory beside the start of sessions

	MCP HandlerMCP // nil: there is no /mcp

	ContextTimeout time.Duration // in which a starting session gets its memory, or none. 0 means 1.2 s
	HookTimeout    time.Duration // in which a hook's event is on disk, or 503. 0 means capture.AppendTimeout
	WaitTimeout    time.Duration // for the views to reach ?after=. 0 means 5 s
	MaxRequests    int           // at once, without streams. 0 means 512
	MaxStreams     int           // at once. 0 means 64
	MaxBodies      int64         // bytes of hook payloads in memory at once. 0 means 128 MiB

	Logger *slog.Logger     // nil: discarded
	Now    func() time.Time // nil: time.Now
	NewID  func() events.ID // UUIDv7s of releases, of requests to observe again and of given memory; nil: from crypto/rand
}

func (c Config) withDefaults() Config {
	setDefault(&c.ContextTimeout, 1200*time.Millisecond)
	setDefault(&c.Briefs.Timeout, 150*time.Millisecond)
	setDefault(&c.HookTimeout, capture.AppendTimeout)
	setDefault(&c.WaitTimeout, 5*time.Second)
	setDefault(&c.MaxRequests, 512)
	setDefault(&c.MaxStreams, 64)
	setDefault(&c.MaxBodies, 128<<20)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() events.ID { return uuid.Must(uuid.NewV7()) }
	}
	return c
}

func setDefault[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// PhaseReady is the phase in which everything is answered.
const PhaseReady = "ready"

// Server answers requests. Its methods are safe for concurrent use.
type Server struct {
	cfg       Config
	logger    *slog.Logger
	started   time.Time
	phase     atomic.Pointer[string]
	life      lifetime
	tokenGate tokenGate
	payloads  payloads
	metrics   *metrics
	injector  injector  // cfg.Recall, but for tests
	watermark watermark // cfg.Recall, but for tests

	local, remote http.Handler
	mcp           http.Handler        // nil: none
	bound         map[string]endpoint // by pattern

	again   chan struct{} // holds one token: one request for turns again at a time
	curator *curation.Curator
}

// New returns a server in the phase "starting". Nothing listens before Run, or before a handler is used.
func New(cfg Config) (*Server, error) {
	if cfg.System == nil || cfg.Capture == nil || cfg.Log == nil || cfg.Views == nil || cfg.Index == nil || cfg.Recall == nil {
		return nil, errors.New("api: a system, a capture, a log, views, an index and a recall are required")
	}
	s := &Server{
		cfg: cfg.withDefaults(), injector: cfg.Recall, watermark: cfg.Recall, bound: map[string]endpoint{}, again: make(chan struct{}, 1),
	}
	s.logger, s.started, s.life.ending, s.payloads.most = s.cfg.Logger, s.cfg.Now(), make(chan struct{}), s.cfg.MaxBodies
	s.tokenGate.newToken, s.tokenGate.now, s.tokenGate.logger = s.cfg.NewToken, s.cfg.Now, s.logger
	s.curator = curation.New(curation.Config{
		Sink: s.cfg.System, Log: s.cfg.Log, Views: s.cfg.Views, Checker: s.cfg.Checker, Now: s.cfg.Now,
		Resolve: s.cfg.Recall.Resolve, CaughtUp: s.caughtUp, Redact: s.cfg.Capture.Redact,
	})
	m, err := newMetrics(s)
	if err != nil {
		return nil, fmt.Errorf("api: metrics: %w", err)
	}
	s.metrics = m
	if s.cfg.MCP != nil {
		s.mcp = s.cfg.MCP(s)
	}
	routes := s.routes()
	s.local = headed(overSocket(routes))
	s.tokenGate.setToken(s.cfg.Token)
	s.remote = headed(s.tokenGate.guarded(routes))
	s.SetPhase("starting")
	return s, nil
}

// SetPhase says what the daemon's start is at. PhaseReady ends it: before that /readyz answers 503 with the phase.
// Hooks, searches and all else are served in every phase as well as they can.
func (s *Server) SetPhase(phase string) { s.phase.Store(&phase) }

// Phase returns what SetPhase was given last.
func (s *Server) Phase() string { return *s.phase.Load() }
