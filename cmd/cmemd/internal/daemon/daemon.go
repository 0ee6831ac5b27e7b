package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/providers"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/sharing"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/agents/watch"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/mcp"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/api/signin"
	"github.com/cmemd/cmemd/internal/api/viewer"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/capture/privacy"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/observer/prompt"
	"github.com/cmemd/cmemd/internal/peer"
	"github.com/cmemd/cmemd/internal/process"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/vectors"
	"github.com/cmemd/cmemd/projections/vectors/embed"
)

// A daemon is every package wired together over one home. openDaemon takes the log; run serves; close lets go.
type daemon struct {
	config *config.Loaded
	paths  homedir.Paths
	logger *slog.Logger
	prices config.Prices
	offers *providerSet

	log     *eventlog.Bolt // the own one: what acts reads and writes it
	union   union.Log      // it and what is here of other machines': what answers reads it
	sharing *sharing.Sharing
	views   *projections.Views
	index   *index.Index
	vectors *vectors.Vectors // nil: there are none
	embed   *embed.Asker     // nil: nobody makes any
	checker *evidence.Checker
	actors  *actors.System
	eraser  *erasure.Eraser
	capture *capture.Pipeline
	server  *server.Server
	mcp     *mcp.Server
	watch   *watch.Watcher // nil: no transcripts are followed

	unserved       atomic.Pointer[api.Unserved] // the loopback address that could not be had
	begun          events.Position              // of the record that begins this life
	previous       provider.Previous            // how the last life ended
	damage         *homedir.LogDamage
	home           *os.Root // the folder that this life began in, wherever it is moved
	socket         net.Listener
	exchangedSaved atomic.Bool // what was recorded in a log that was exchanged was saved, or could not be
	stop           context.CancelCauseFunc
}

// openDaemon locks the log of a home, opens all that stands on it, and records that a daemon starts. Nothing is done to
// the socket or to what another daemon wrote down unless the log is ours. stop is called when somebody asks the daemon
// to end, or the log fails. An error leaves nothing open, and the last life as it ended.
func openDaemon(ctx context.Context, l *config.Loaded, p homedir.Paths, logger *slog.Logger, version string, stop context.CancelCauseFunc) (*daemon, error) {
	prices, err := config.LoadPrices(p.Home)
	if err != nil {
		return nil, err
	}
	if err := l.CheckPrices(prices); err != nil {
		return nil, err
	}
	offers, err := newProviderSet(providers.Builder{Settings: l, Runs: p.Runs, Log: logger})
	if err != nil {
		return nil, err
	}
	d := &daemon{damage: homedir.ReadLogDamage(p), config: l, paths: p, logger: logger, prices: prices, offers: offers, stop: stop}
	if err := p.CheckLog(); err != nil {
		return nil, err
	}
	cfg := l.Log()
	cfg.Found = d.foundInLog
	d.log, err = takeLog(p, cfg)
	if damage, ok := errors.AsType[*eventlog.CorruptError](err); ok {
		d.foundInLog(damage)
	}
	if err != nil {
		return nil, p.AdviseNewer(err)
	}
	if err := p.RecordVersion(version); err != nil { // it only makes a refusal to come say more
		logger.Warn("version not written down", "err", err)
	}
	if d.home, err = os.OpenRoot(p.Home); err == nil {
		err = d.open(ctx, version)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// In all a log that another daemon holds is refused within a second.
const (
	freeLogTimeout    = 100 * time.Millisecond // in which a log that nobody holds is taken
	yieldedLogTimeout = 900 * time.Millisecond // in which a command that reads it has let go of it; it looks every offline.givePause
)

// takeLog opens the log of a home for writing. Commands that read it are asked to let go of it.
func takeLog(p homedir.Paths, cfg eventlog.Config) (*eventlog.Bolt, error) {
	cfg.Timeout = freeLogTimeout
	log, err := eventlog.Open(p.Log, cfg)
	if !errors.Is(err, eventlog.ErrLocked) {
		return log, err
	}
	withdraw, noted := p.WantLog()
	if noted != nil {
		return nil, errors.Join(err, noted)
	}
	cfg.Timeout = yieldedLogTimeout
	log, err = eventlog.Open(p.Log, cfg)
	if gone := withdraw(); gone != nil && err == nil {
		return nil, errors.Join(gone, log.Close())
	}
	return log, err
}

func (d *daemon) open(ctx context.Context, version string) error {
	d.removeLeftovers(ctx, time.Now())
	if info, err := os.Stat(d.paths.Token); err == nil && info.Size() == 0 {
		d.logger.Warn("the file of the token was empty: another token is made, and who uses the old one is refused", "path", d.paths.Token)
	}
	token, err := homedir.LoadToken(d.paths.Token)
	if err != nil {
		return err
	}
	if err := sharing.Clean(d.paths.Machines); err != nil {
		return err
	}
	if err := d.openUnion(); err != nil {
		return err
	}
	if d.views, err = projections.Open(d.paths.Views, d.union, engine.Config{BootID: process.BootID(), Machine: d.writerOf, Logger: d.logger}); err != nil {
		return err
	}
	if d.index, err = index.Open(ctx, d.paths.Index, d.union, index.Config{Logger: d.logger}); err != nil {
		return err
	}
	if err := d.openVectors(ctx); err != nil {
		return err
	}
	d.offers.sweep(d.logger)
	d.checker = evidence.NewChecker(d.gitConfig())
	if err := d.begin(ctx, version); err != nil {
		return err
	}
	if err := d.assemble(token, version); err != nil {
		return errors.Join(err, d.recordEnd(d.previous.Clean, err))
	}
	return nil
}

// replacing is how long nobody takes to replace a small file.
const replacing = 10 * time.Second

// removeLeftovers removes what killed processes left of comparisons, and of files of the home that they were replacing.
func (d *daemon) removeLeftovers(ctx context.Context, now time.Time) {
	stay := d.paths.SweepScratch(ctx)
	err := filepath.WalkDir(d.paths.Home, func(dir string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_, err = durable.Sweep(dir, now, replacing)
		}
		if !errors.Is(err, fs.ErrNotExist) { // what goes meanwhile is nobody's loss
			stay = errors.Join(stay, err)
		}
		return nil
	})
	if err = errors.Join(stay, err); err != nil {
		d.logger.Warn("what killed processes left stays", "err", err)
	}
}

// assemble makes what acts and what answers.
func (d *daemon) assemble(token, version string) (err error) {
	if d.actors, err = actors.New(d.actorsConfig()); err != nil {
		return err
	}
	d.sharing = sharing.New(d.sharingConfig())
	d.eraser = erasure.New(d.eraserConfig())
	answers, kept := recall.New(d.recallConfig()), spool.New(d.paths.Home)
	if d.capture, err = capture.New(d.captureConfig(answers, kept)); err != nil {
		return err
	}
	if d.server, err = server.New(d.apiConfig(answers, kept, token, version)); err != nil {
		return err
	}
	d.watch, err = d.watcher()
	return err
}

// recordEnd says in the log that this life has ended. A life in which nothing was done ends as the one before it had.
func (d *daemon) recordEnd(clean bool, cause error) error {
	_, err := eventlog.AppendEnd(context.Background(), d.log, events.Daemon, events.Draft{
		ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(),
		Event: events.DaemonStopped{Clean: clean, Cause: cause.Error()},
	})
	return d.unlessDiskFull(err)
}

// unlessDiskFull is err, but for a record of the daemon's own life that a nearly full disk has no room for: it is not worth an
// end, as hooks must hear that nothing is taken.
func (d *daemon) unlessDiskFull(err error) error {
	if !errors.Is(err, eventlog.ErrDiskFull) {
		return err
	}
	d.logger.Warn("the daemon's start or end is not recorded", "err", err)
	return nil
}

// begin records the start, and learns how the last life ended.
func (d *daemon) begin(ctx context.Context, version string) (err error) {
	d.previous, err = actors.Begin(ctx, d.log, events.Draft{
		ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(),
		Event: events.DaemonStarted{Version: version, PID: os.Getpid(), Settings: d.config.Values(), Rules: session.DefaultRules().Version},
	})
	if err := d.unlessDiskFull(err); err != nil {
		return err
	}
	if !d.previous.Clean {
		d.logger.Warn("the last daemon did not end in order; what it had accepted is in the log, turns in flight are asked again")
	}
	d.begun, err = d.union.Last(ctx)
	return err
}

// gitConfig is the git that is asked of repositories, and what it is given.
func (d *daemon) gitConfig() evidence.Config {
	return evidence.Config{Git: config.Program(d.config.Programs.Git), Env: d.config.Environ}
}

func (d *daemon) actorsConfig() actors.Config {
	c := d.config
	return actors.Config{
		Log: d.log, Providers: d.offers.routes(), Summaries: tierRoute(d.offers.summaries), Trivial: tierRoute(d.offers.trivial),
		IsTrivial: allTrivial, Budget: c.Budget, Spent: d.spent, Price: d.prices.TurnCost,
		Checker: d.checker, Tracker: evidence.NewTracker(d.gitConfig()), Previous: d.previous, Logger: d.logger, Rules: c.Rules(),
		Pause: c.Pause, NoYield: c.NoYield, Owing: d.owing, Replaced: d.replaced, Written: d.writtenByAgents,
		Slots: c.Slots, TurnTimeout: c.TurnTimeout, Passivate: c.Passivate,
		MaxWaiting: c.MaxWaiting, MaxWaitBytes: c.MaxWaitingBytes,
	}
}

// replaced returns those of the observations with these ids that stand no more, as far as the views know.
func (d *daemon) replaced(ctx context.Context, ids []events.ID) (map[events.ID]bool, error) {
	found, err := d.views.Rows(ctx, ids...)
	gone := map[events.ID]bool{}
	for _, row := range found {
		if row.Superseded || row.IsUndone() {
			gone[row.ID] = true
		}
	}
	return gone, err
}

// writtenByAgents are those of some files of a project that an agent's own edits made or changed, as far as the views know.
func (d *daemon) writtenByAgents(ctx context.Context, root string, names []string) (own []string, err error) {
	for _, name := range names {
		as := []string{evidence.Rel(root, name)}
		if below, ok := evidence.InTree(filepath.Dir(name)); ok { // of a worktree
			as = append(as, path.Join(below, filepath.Base(name)))
		}
		for _, rel := range as {
			touches, err := d.views.Touches(ctx, root, rel, maxTouches)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(touches, func(t files.Touch) bool { return t.Tool != "" && t.Modified && !t.Failed }) {
				own = append(own, name)
				break
			}
		}
	}
	return own, nil
}

// maxTouches is how many of a file's last touches are looked through for an edit.
const maxTouches = 50

// owing lists the sessions that owe work, once the views know all that happened before this start.
func (d *daemon) owing(ctx context.Context) ([]events.SessionID, error) {
	if err := d.views.Wait(ctx, d.begun); err != nil {
		return nil, err
	}
	return d.views.Owing(ctx)
}

func (d *daemon) captureConfig(answers *recall.Recall, kept *spool.Spool) capture.Config {
	return capture.Config{
		Sink: d.seenActors(), Log: d.union, Injections: answers, Projects: d.views, Repos: d.checker, Spool: kept, Home: d.paths.Home,
		Secrets: captureSecrets(), Rules: privacy.NewRules(d.paths.Home, d.config.Switches), Logger: d.logger,
		NoPreferences: d.config.Preferences != config.On,
	}
}

func (d *daemon) apiConfig(answers *recall.Recall, kept *spool.Spool, token, version string) server.Config {
	return server.Config{
		Stores: server.Stores{Log: d.union, Own: d.log, Views: d.views, Index: d.index, Recall: answers, Vectors: d.vectors},
		Services: server.Services{
			System: d.seenActors(), Capture: d.capture, Spool: kept, Checker: d.checker, Eraser: d.eraser, Machines: d.sharing,
			Scratch: d.paths.WithScratch, Providers: d.offers.describe(),
		},
		Daemon: server.Daemon{
			Home: d.paths.Home, Version: version, PID: os.Getpid(), Settings: d.config.Values(), LeftOut: leftOut(d.config),
			Unserved: d.unserved.Load,
			Notice:   d.notices().line, Damage: d.damage.Known, Sharing: d.shares,
			Shutdown: func(cause string) { d.stop(endRequest(cause)) },
		},
		Access: server.Access{
			Token: token, NewToken: func() (string, error) { return homedir.MakeToken(d.paths.Token) },
			Peer: peerLookup(peer.Agents{Programs: known.Processes(), Variables: known.Marks()}), Projects: d.config.MCPProjects,
			Browsers: d.openSignins(),
		},
		Briefs: d.config.Briefs(), Price: d.prices.Cost, MCP: d.mcpFace(version), Viewer: viewer.Handler(),
		Logger: d.logger,
		Types: config.TypesInForce(d.paths.Home, func(err error) {
			d.logger.Warn("some outputs on record are of a mode that cannot be read any more; a replay takes the types of the code mode", "err", err)
		}),
	}
}

// openSignins are those that are let in to the page.
func (d *daemon) openSignins() *signin.Register {
	r, err := signin.Open(d.paths.Viewers, signin.Config{Logger: d.logger})
	if err != nil {
		d.logger.Warn("the browsers that were let in to the page are let in no more: `cmemd ui` opens it anew", "err", err)
	}
	return r
}

// notices are what sessions' persons are shown.
func (d *daemon) notices() notices {
	return notices{
		views: d.views, status: d.actors.Status, now: time.Now, log: d.logNotice, sharing: d.notShared,
		stopped: server.Stores{Views: d.views, Index: d.index}.StoppedParts, asked: d.forgetRequests, leftOut: d.leftOut,
	}
}

// leftOut is how many settings variables made until now that nobody was asked about.
func (d *daemon) leftOut() int {
	if wasAsked(d.paths.Home) {
		return 0
	}
	return len(leftOut(d.config))
}

// forgetRequests is how many requests of agents to forget no person has answered.
func (d *daemon) forgetRequests() int { return d.eraser.Status().Requests }

// peerLookup finds out who is at the other end of a connection, where agents are known by these programs and variables.
func peerLookup(agents peer.Agents) func(net.Conn) peer.Peer {
	return func(conn net.Conn) peer.Peer { return peer.Of(conn, agents) }
}

// leftOut is what of the environment does not count, as status tells it.
func leftOut(l *config.Loaded) (all []api.LeftOut) {
	for _, u := range l.Unheeded() {
		all = append(all, api.LeftOut{Variable: u.Name, Setting: u.Key})
	}
	return all
}

// endRequest is the cause of an end that somebody asked for.
type endRequest string

func (s endRequest) Error() string { return string(s) }

// close lets everything go that is open. What is in the views is on disk then.
func (d *daemon) close() error {
	var errs []error
	add := func(what string, err error) {
		if err != nil && !errors.Is(err, eventlog.ErrFailed) {
			errs = append(errs, fmt.Errorf("close the %s: %w", what, err))
		}
	}
	if d.mcp != nil {
		add("mcp", d.mcp.Close())
	}
	add("providers", d.offers.close())
	if d.vectors != nil {
		add("vectors", d.vectors.Close())
	}
	if d.embed != nil {
		d.embed.CloseIdleConnections()
	}
	if d.index != nil {
		add("index", d.index.Close())
	}
	if d.views != nil {
		add("views", d.views.Close())
	}
	if d.union.Union != nil {
		add("copies of other machines' logs", d.union.Union.Close())
	}
	add("log", d.log.Close())
	if d.home != nil {
		add("home", d.home.Close())
	}
	return errors.Join(errs...)
}

// allTrivial reports whether inputs, the oldest first, say nothing beyond a line each.
func allTrivial(inputs []observer.Input) bool {
	var earlier []events.Event
	return !slices.ContainsFunc(inputs, func(in observer.Input) bool {
		if in.Repeats {
			earlier = append(earlier, in.Event)
		}
		trivial := prompt.Trivial(in, earlier)
		earlier = append(earlier, in.Event)
		return !trivial
	})
}
