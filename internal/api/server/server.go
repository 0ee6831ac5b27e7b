package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/stream"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/panics"
)

// Server answers requests. Its methods are safe for concurrent use.
type Server struct {
	dispatcher
	listeners
	endpoints map[string]endpoint // by pattern
	reach     []string            // Access.Projects

	hooks    hooks
	status   statuses
	memories *memories
	projects *projectRoutes
	browsers browsers
}

// New returns a server in the phase "starting". Nothing listens before Run, or before a handler is used.
func New(cfg Config) (*Server, error) {
	if cfg.System == nil || cfg.Capture == nil || cfg.Log == nil || cfg.Views == nil || cfg.Index == nil || cfg.Recall == nil {
		return nil, errors.New("api: a system, a capture, a log, views, an index and a recall are required")
	}
	cfg = cfg.withDefaults()
	s := &Server{
		reach: cfg.Projects,
		dispatcher: dispatcher{
			logger: cfg.Logger, life: newLifetime(cfg.Bounds),
			sources: sources{Stores: cfg.Stores, watermark: cfg.Recall, timeout: cfg.WaitTimeout, place: placesNow(cfg.Capture)},
		},
	}
	s.status = statuses{
		sources: &s.sources, Daemon: cfg.Daemon, system: cfg.System, spool: cfg.Spool, eraser: cfg.Eraser, providers: cfg.Providers,
		known: cfg.Capture.Known, hidden: cfg.Capture.Hidden,
		usages: usages{&s.sources, prices(cfg.Price), cfg.Now}, environment: environment{cfg.Now, cfg.NewID, cfg.Logger}, started: cfg.Now(),
	}
	s.SetPhase("starting")
	s.listeners.peer, s.listeners.dispatcher = cfg.Peer, &s.dispatcher
	metrics := newMetrics(&s.status, &cfg.Capture.Counts)
	s.hooks = hooks{
		capture: cfg.Capture, payloads: payloads{most: cfg.MaxBodies}, timeout: cfg.HookTimeout,
		now: cfg.Now, replies: s.newInjections(cfg, metrics), count: metrics.hook,
	}
	s.memories, s.projects = newMemories(cfg, &s.sources), newProjectRoutes(&s.sources, cfg.Capture, cfg.Now)
	gate := &tokenGate{
		newToken: cfg.NewToken, browsers: cfg.Browsers, now: cfg.Now, logger: cfg.Logger, projects: cfg.Projects,
	}
	gate.setToken(cfg.Token)
	s.browsers = browsers{register: cfg.Browsers, page: cfg.Viewer, gate: gate, address: s.loopback}
	var err error
	if s.endpoints, err = s.bindAll(cfg, metrics); err != nil {
		return nil, err
	}
	var mcp http.Handler
	if cfg.MCP != nil {
		mcp = cfg.MCP(s)
	}
	routes := s.mux(mcp)
	s.local = headed(overSocket(cfg.Projects, routes))
	s.remote = headed(gate.guarded(routes, s.isOpen(routes)))
	return s, nil
}

// newInjections returns what gives agents memory at their hooks.
func (s *Server) newInjections(cfg Config, metrics *metrics) injections {
	return injections{
		log: cfg.Log, injector: cfg.Recall, capture: cfg.Capture, system: cfg.System, briefs: cfg.Briefs,
		timeout: cfg.ContextTimeout, notice: cfg.notice, home: cfg.Home, life: &s.life,
		place: func(ctx context.Context, root string) string {
			return s.sources.placeNotice(ctx, cfg.Capture, root)
		},
		environment: environment{cfg.Now, cfg.NewID, cfg.Logger}, withheld: metrics.withheld.Inc,
	}
}

// isOpen tells what anybody on the machine may ask for.
func (s *Server) isOpen(routes *http.ServeMux) func(*http.Request) bool {
	return func(r *http.Request) bool {
		_, pattern := routes.Handler(r)
		return isPage(r) || s.endpoints[pattern].Scope == api.ScopeAnybody
	}
}

// placesNow tells which project a folder is of by what stands there now.
func placesNow(p *capture.Pipeline) func(ctx context.Context, dir string) capture.Project {
	return func(ctx context.Context, dir string) capture.Project { return p.Project(ctx, dir, 0) }
}

// bindAll binds every route to the object that answers it.
func (s *Server) bindAll(cfg Config, metrics *metrics) (map[string]endpoint, error) {
	prices := prices(cfg.Price)
	return endpointsOf(&s.dispatcher,
		&s.status, &s.hooks, s.browsers.gate, metrics,
		&searches{&s.sources}, &exports{&s.sources}, &chains{&s.sources, prices}, &viewRoutes{&s.sources}, &logs{&s.sources, cfg.Logger, cfg.Scratch},
		&contexts{&s.sources, cfg.Capture, cfg.Briefs.Score, cfg.Now}, &s.status.usages,
		&sessionRoutes{&s.sources, cfg.System, cfg.Now, cfg.NewID, cfg.Capture.Hidden}, s.memories,
		s.projects, &s.browsers, &description{s}, &replays{sources: &s.sources, types: cfg.Types, version: cfg.Version}, &clusters{cfg.Machines},
	)
}

// mux serves every route. Patterns without a method answer the rest with a problem.
func (s *Server) mux(mcp http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, e := range s.endpoints {
		mux.Handle(pattern, e.wrap(e.guarded))
	}
	if mcp != nil {
		mux.Handle(pathMCP, s.stream(agentsOnly(mcp)))
	}
	mux.Handle("GET "+pathPage, s.unary(s.browsers.servePage))
	mux.Handle("/", s.unary(func(_ http.ResponseWriter, r *http.Request) error { return unrouted(mux, r) }))
	return mux
}

// unrouted says whether a path is wrong, or only its method.
func unrouted(mux *http.ServeMux, r *http.Request) error {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "/" && pattern != "" {
			return &api.Problem{
				Type: api.ProblemMethod, Title: "Not by this method", Status: http.StatusMethodNotAllowed,
				Detail: "this path takes " + method,
			}
		}
	}
	return notFound("there is no such path; what there is begins with /v1")
}

// pathMCP is where the daemon speaks the Model Context Protocol.
const pathMCP = "/mcp"

// agentsOnly hands a request to the face that Config.MCP made. Its answers may be streams. It is agents', and no page's.
func agentsOnly(mcp http.Handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if callerOf(r.Context()).scope < api.ScopeOwn {
			return forbidden("this is for agents: the page asks the routes below /v1")
		}
		mcp.ServeHTTP(&steady{ResponseWriter: w, out: stream.NewWriter(w)}, r)
		return nil
	}
}

// binder binds the routes that it answers.
type binder interface {
	routes(to *dispatcher) []endpoint
}

// endpointsOf are the routes of all objects by pattern. A pattern that is bound twice is an error.
func endpointsOf(to *dispatcher, objects ...binder) (map[string]endpoint, error) {
	all := map[string]endpoint{}
	for _, object := range objects {
		for _, e := range object.routes(to) {
			if _, again := all[e.Pattern()]; again {
				return nil, fmt.Errorf("api: %s is bound twice", e.Pattern())
			}
			all[e.Pattern()] = e
		}
	}
	return all, nil
}

// GiveOld gives, at the first start of this release, what is saved under a mere name to the one folder that is called so: as it was shown
// until then. It is called once the views and the index know what happened before this start. Errors are those of the log and the index.
func (s *Server) GiveOld(ctx context.Context) (names int, err error) {
	return s.projects.registrar.GiveOld(ctx, s.projects.before)
}

// SetPhase says what the daemon's start is at. PhaseReady ends it: before that /readyz answers 503 with the phase.
// Hooks, searches and all else are served in every phase as well as they can.
func (s *Server) SetPhase(phase string) { s.status.phase.Store(&phase) }

// Invoke implements api.Invoker for faces that live in the daemon: no connection, no token, the same answers and errors. The context
// is that of a request that the server serves, and says what may be asked: with any other that is nothing. Routes whose answers
// are streams are not for it. It counts as a request, or as a stream, as those over HTTP do.
func (s *Server) Invoke(ctx context.Context, e api.Endpoint, query, answer any, progress func(api.Progress)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err, _ = problemFor(panics.Caught(s.logger, e.Pattern(), p))
		}
	}()
	to := s.endpoints[e.Pattern()]
	if to.invoke == nil {
		return notFound("this is answered over HTTP only")
	}
	if err := checkScope(ctx, e); err != nil {
		return err
	}
	leave, busy := s.life.enter(to.stream)
	if busy != nil {
		return busy
	}
	defer leave()
	ctx = withCaller(ctx, callerOf(ctx).keptAs(ctx, s.reach))
	within, cancel := s.life.within(ctx, to.stream)
	defer cancel()
	if err = to.invoke(within, query, answer, progress); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	p, known := problemFor(err)
	if !known {
		s.logger.Error("request failed", "route", e.Pattern(), "err", err)
	}
	return p
}
