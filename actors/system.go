package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/turn"
	"github.com/cmemd/cmemd/internal/sleep"
	"github.com/cmemd/cmemd/internal/transient"
)

// Tracker finds out which files shell commands changed. Note remembers what dir's working tree looks like now. It gives up
// by itself in a few seconds, and is safe for concurrent use.
type Tracker interface {
	Note(ctx context.Context, dir string)
	turn.Tracker
}

// Config is what a System needs. Log and one of Providers are required; zero values of the rest mean the defaults.
type Config struct {
	Log       eventlog.Log
	Providers []Route      // in the order in which they are preferred, each name once
	Trivial   *Route       // asked first about inputs that are all trivial; nil: as about others
	Summaries *Route       // asked first for summaries; nil: as for others
	Checker   turn.Checker // nil: every claim is unknown
	Tracker   Tracker      // nil: what a shell changed without saying so is not known
	// Replaced is turn.Config's. nil: no observations are.
	Replaced func(ctx context.Context, ids []events.ID) (map[events.ID]bool, error)
	// Written is turn.Config's. nil: no files are.
	Written  func(ctx context.Context, root string, files []string) ([]string, error)
	Rules    session.Rules     // its Batch is that of the first of Providers
	Pause    policy.Backoff    // 0 means policy.DefaultPause
	NoYield  policy.NoYield    // when a provider is paused whose answers are of no use
	Previous provider.Previous // how the last life of the daemon ended
	// IsTrivial reports whether inputs say so little that Trivial will do. nil: none do.
	IsTrivial func(inputs []observer.Input) bool
	Budget    policy.Budget
	// Spent returns what was used since from, by one session or, where session is nil, by all: tokens of input and output,
	// and US dollars as Price counts them. It knows all that is in the log when it is called, and may wait until it does.
	// It is required with a Budget.
	Spent func(ctx context.Context, from time.Time, session *events.SessionID) (tokens int64, usd float64, err error)
	// Price is what a turn cost in US dollars, of which b says what its provider stated of it, and which model answered; asked
	// is the one that was asked. It is safe for concurrent use. nil: what is stated.
	Price func(provider, asked string, b events.Bill) float64
	// Owing lists the sessions to wake at the start: those that owe work or are still open. It may wait until it knows.
	// nil: none
	Owing func(ctx context.Context) ([]events.SessionID, error)

	Slots        int           // turns at once over all sessions. 0 means 2
	TurnTimeout  time.Duration // of one turn. 0 means 60 s
	HangGrace    time.Duration // beyond TurnTimeout, for a provider that does not heed its context. 0 means 5 s
	Passivate    time.Duration // of an idle session actor. 0 means 10 min
	MaxWaiting   int           // requests accepted and not yet committed. 0 means 1,024
	MaxWaitBytes int64         // their payloads. 0 means 32 MiB

	Logger *slog.Logger     // nil: discarded
	Now    func() time.Time // nil: time.Now
	NewID  func() events.ID // UUIDv7; nil: from crypto/rand
}

func (c Config) withDefaults() Config {
	c.Pause = cmp.Or(c.Pause, policy.DefaultPause())
	c.Slots = cmp.Or(c.Slots, 2)
	c.TurnTimeout = cmp.Or(c.TurnTimeout, time.Minute)
	c.HangGrace = cmp.Or(c.HangGrace, provider.HangGrace)
	c.Passivate = cmp.Or(c.Passivate, 10*time.Minute)
	c.MaxWaiting = cmp.Or(c.MaxWaiting, 1024)
	c.MaxWaitBytes = cmp.Or(c.MaxWaitBytes, 32<<20)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() events.ID { return uuid.Must(uuid.NewV7()) }
	}
	if c.Price == nil {
		c.Price = func(_, _ string, b events.Bill) float64 { return b.Cost }
	}
	c.Rules.Batch = c.Providers[0].BatchLimits()
	return c
}

// limits are the numbers by which providers are ruled on.
func (c *Config) limits() provider.Limits {
	return provider.Limits{Pauses: c.Pause, NoYield: &c.NoYield}
}

// check reports what a Config lacks.
func (c Config) check() error {
	switch {
	case c.Log == nil || len(c.Providers) == 0:
		return errors.New("actors: a log and a provider are required")
	case !c.Budget.None() && c.Spent == nil:
		return errors.New("actors: a budget needs to know what was spent")
	}
	for _, o := range []*Route{c.Trivial, c.Summaries} {
		if o != nil && o.Provider == nil {
			return errors.New("actors: a tier without its provider")
		}
	}
	names := map[string]bool{}
	for _, o := range c.Providers {
		if o.Provider == nil || names[o.Name()] {
			return errors.New("actors: a provider is missing, or named twice")
		}
		names[o.Name()] = true
	}
	return nil
}

// Errors of Do and Capture. Those of the log (eventlog.ErrDiskFull, eventlog.ErrFailed) and the refusals of
// session.Decide come through as they are.
var (
	// ErrBusy is a request over the bound on what is accepted and not committed: try again later.
	ErrBusy = transient.Mark(errors.New("actors: too much is waiting to be committed"))
	// ErrFaulted is a request on which its session's actor crashed. Whether it was committed is not known.
	ErrFaulted = errors.New("actors: the session crashed on this request")
	// ErrParked is a request for a session that crashes whenever it is woken; beside it *eventlog.CorruptError where that is because its
	// part of the log cannot be read.
	ErrParked = errors.New("actors: the session is parked after repeated crashes")
	// ErrStopped is a request before Run or after its end.
	ErrStopped = transient.Mark(errors.New("actors: not running"))
	// ErrNoCommands is a Do without commands.
	ErrNoCommands = errors.New("actors: no commands")
	// ErrNoProvider is a session.Reobserve that names a provider which is not the system's: nobody would heed it.
	ErrNoProvider = errors.New("actors: no such provider")
	// ErrNotPaused is a Resume of a provider that is not paused.
	ErrNotPaused = errors.New("actors: the provider is not paused")
)

// System is the running actors. Its methods are safe for concurrent use.
type System struct {
	cfg      Config
	root     *actor.RootContext
	system   *actor.ActorSystem
	workers  *workers
	pipeline *turn.Pipeline
	appends  sync.WaitGroup                                      // under way
	turns    tally                                               // and other reads under way
	begin    func(work func(context.Context)) context.CancelFunc // begins one of them; it is cancelled when Run ends, too
	ending   atomic.Bool                                         // Run ends
	done     chan struct{}                                       // closed when Run has ended
	asked    tally                                               // turns that a provider is asked, and those that were cut whose cost is not on disk
	degraded atomic.Bool                                         // capture only; written by the sessions supervisor alone
	waiting  atomic.Int64
	bytes    atomic.Int64
	running  atomic.Bool
	live     atomic.Int64 // session actors awake
	top      *actor.PID
	sessions *actor.PID
	dispatch *actor.PID
}

// New returns a System that does nothing until Run.
func New(cfg Config) (*System, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	sys := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	s := &System{cfg: cfg.withDefaults(), system: sys, root: sys.Root, done: make(chan struct{})}
	s.workers = newWorkers(s.done)
	s.pipeline = turn.New(turn.Config{
		Log: s.cfg.Log, Checker: s.cfg.Checker, Tracker: s.cfg.Tracker, Replaced: s.cfg.Replaced, Written: s.cfg.Written,
		Now: s.cfg.Now, Logger: s.cfg.Logger, NewID: s.cfg.NewID,
	})
	s.degraded.Store(cfg.Previous.Degraded)
	return s, nil
}

// Run serves until ctx is done, then cancels turns (their inputs stay owed, what they cost is recorded), stops all actors,
// waits for every append under way, and returns nil: nothing is appended after that. A provider that does not heed its context
// is waited for at most HangGrace. Run is called once. ready, if not nil, is closed when requests are accepted.
func (s *System) Run(ctx context.Context, ready chan<- struct{}) error {
	ending, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	s.begin = func(work func(context.Context)) context.CancelFunc {
		ctx, cancel := context.WithCancel(ending)
		s.turns.enter()
		go func() {
			defer s.turns.leave()
			defer cancel()
			work(ctx)
		}()
		return cancel
	}
	started := make(chan error, 1)
	s.top = s.root.Spawn(s.props(func() actor.Actor { return &topActor{sys: s, started: started} }))
	if err := <-started; err != nil {
		s.stopTree()
		close(s.done)
		return fmt.Errorf("actors: start: %w", err)
	}
	s.running.Store(true)
	if ready != nil {
		close(ready)
	}
	<-ctx.Done()
	s.running.Store(false)
	s.ending.Store(true)
	end()
	grace := time.NewTimer(s.cfg.HangGrace)
	defer grace.Stop()
	s.settleBills()
	s.stopTree()
	s.appends.Wait()
	close(s.done)
	s.awaitTurns(grace)
	s.system.Shutdown()
	return nil
}

func (s *System) awaitTurns(grace *time.Timer) {
	select {
	case <-s.turns.drained():
	case <-grace.C:
		s.cfg.Logger.Warn("a provider did not end when it was cancelled; it is left behind")
	}
}

// stopTree stops the tree from its root and waits: a future would give up after ten seconds.
func (s *System) stopTree() {
	gone, watching := make(chan struct{}), make(chan struct{})
	watcher := s.root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		switch c.Message().(type) {
		case *actor.Started:
			c.Watch(s.top)
			close(watching)
		case *actor.Terminated:
			close(gone)
		}
	}))
	<-watching // a watch that comes while top is stopping hears at once that it is gone
	s.root.Stop(s.top)
	<-gone
	s.root.Stop(watcher)
}

// Receipt says where a request ended.
type Receipt struct {
	Position  events.Position // of the last event it led to; 0: none
	Duplicate bool            // nothing was recorded: it was known already
}

// Do puts commands to a session, in order, and returns when what they led to is on disk.
func (s *System) Do(ctx context.Context, id events.SessionID, cmds ...session.Command) (Receipt, error) {
	if !s.running.Load() {
		return Receipt{}, ErrStopped
	}
	if err := s.check(cmds); err != nil {
		return Receipt{}, err
	}
	size := session.SizeOf(cmds)
	n, bytes := s.waiting.Add(1), s.bytes.Add(size)
	if n > int64(s.cfg.MaxWaiting) || bytes > s.cfg.MaxWaitBytes && n > 1 {
		s.leave(size)
		return Receipt{}, ErrBusy
	}
	r := &request{session: id, cmds: cmds, reply: make(chan result, 1), byteSize: size, sys: s}
	s.root.Send(s.sessions, r)
	select {
	case res := <-r.reply:
		return res.receipt, res.err
	case <-ctx.Done():
		r.giveUp()
		return Receipt{}, ctx.Err()
	case <-s.done:
		return Receipt{}, ErrStopped
	}
}

// Resume ends the pause of a provider because a person says so, and returns where that is recorded. Errors: ErrNoProvider,
// ErrNotPaused, ErrStopped, ctx.Err().
func (s *System) Resume(ctx context.Context, name string) (events.Position, error) {
	if !s.running.Load() {
		return 0, ErrStopped
	}
	m := resume{provider: name, reply: make(chan resumed, 1)}
	s.root.Send(s.dispatch, m)
	select {
	case r := <-m.reply:
		return r.at, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-s.done:
		return 0, ErrStopped
	}
}

// Sink puts commands to sessions. A *System is one; see there.
type Sink interface {
	Do(ctx context.Context, id events.SessionID, cmds ...session.Command) (Receipt, error)
}

// DoWhenRoom is to.Do, tried again for 30 s while that is ErrBusy: what hooks bring goes first.
func DoWhenRoom(ctx context.Context, to Sink, id events.SessionID, cmds ...session.Command) (Receipt, error) {
	const pause = 50 * time.Millisecond
	until := time.Now().Add(30 * time.Second)
	for {
		receipt, err := to.Do(ctx, id, cmds...)
		if !errors.Is(err, ErrBusy) || time.Now().After(until) {
			return receipt, err
		}
		if err := sleep.For(ctx, pause); err != nil {
			return Receipt{}, err
		}
	}
}

// check refuses what no session has to be asked about.
func (s *System) check(cmds []session.Command) error {
	if len(cmds) == 0 {
		return ErrNoCommands
	}
	for _, cmd := range cmds {
		again, ok := cmd.(session.Reobserve)
		if ok && again.Provider != "" && s.cfg.route(again.Provider) == nil {
			return fmt.Errorf("%w: %q", ErrNoProvider, again.Provider)
		}
	}
	return nil
}

func (s *System) leave(size int64) {
	s.waiting.Add(-1)
	s.bytes.Add(-size)
}

// draft wraps an event that is no session's.
func (s *System) draft(e events.Event, turn events.ID) events.Draft {
	return events.Draft{ID: s.cfg.NewID(), OccurredAt: s.cfg.Now().Round(0), Correlation: turn, Event: e}
}
