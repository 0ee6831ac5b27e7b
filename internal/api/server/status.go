package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/projects"
)

// PhaseReady is the phase in which everything is answered.
const PhaseReady = "ready"

// StoppedPhase begins the phase of a daemon of which the views or the index go no further, for good or for now: it is not ready
// then.
const StoppedPhase = "stopped: "

// statuses answers how the daemon is doing.
type statuses struct {
	*sources
	Daemon
	system    System
	spool     *spool.Spool
	eraser    curation.Eraser
	providers []api.Provider
	known     func() projects.Known
	hidden    func(ctx context.Context, since time.Time) ([]capture.Hidden, error)
	usages    usages
	environment
	started time.Time
	phase   atomic.Pointer[string]
}

func (s *statuses) routes(to *dispatcher) []endpoint {
	return []endpoint{
		{Operation: api.Operation{Endpoint: api.Endpoint(api.HealthRoute), Query: reflect.TypeFor[api.NoQuery](), Answer: reflect.TypeFor[api.Alive]()}, serve: getHealth, wrap: to.unary},
		bind(to, api.ReadyRoute, s.getReady),
		bind(to, api.StatusRoute, s.getStatus),
		bind(to, api.ResumeRoute, s.postResume),
		bind(to, api.StopRoute, s.postStop),
	}
}

func getHealth(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, r, api.Alive{Alive: true})
}

// getReady answers 503 until the daemon is ready, unless it is asked for the phase in any case.
func (s *statuses) getReady(_ context.Context, q api.ReadyQuery) (api.Readiness, error) {
	phase := s.phaseNow()
	ready := phase == PhaseReady
	if !ready && !q.Always {
		return api.Readiness{}, notNow(api.ProblemStarting, "Not ready yet", time.Second, "the start is at: "+phase)
	}
	return api.Readiness{Ready: ready, Phase: phase}, nil
}

// phaseNow is what the start is at, unless something goes no further.
func (s *statuses) phaseNow() string {
	if still := s.StoppedParts(); len(still) > 0 {
		return StoppedPhase + strings.Join(still, ", ")
	}
	return *s.phase.Load()
}

// healthSpan is the time of which status shows how the observer did.
const healthSpan = 24 * time.Hour

func (s *statuses) getStatus(ctx context.Context, _ api.NoQuery) (api.Status, error) {
	phase := s.phaseNow()
	st := api.Status{
		Version: s.Version, PID: s.PID, Started: s.started, Home: s.Home, Phase: phase,
		Ready: phase == PhaseReady, Settings: s.Settings, LeftOut: s.LeftOut, Disabled: s.disabled(), Notice: s.notice(ctx), Damage: s.Damage(),
	}
	st.Joined, st.Sharing = s.Sharing(ctx)
	if err := s.fillStatus(ctx, &st); err != nil {
		return st, err
	}
	st.Unserved = s.Unserved()
	if kept := s.spoolStatus(); kept != nil {
		st.Spool = *kept
	}
	return st, nil
}

// disabled is what hooks counted that were switched off.
func (s *statuses) disabled() *api.DisabledStatus {
	d, err := relay.ReadDisabled(s.Home, s.now())
	if err != nil || d.Sessions == 0 {
		return nil // what is not known is not shown
	}
	return &api.DisabledStatus{Sessions: d.Sessions, Last: d.Last}
}

func (s *statuses) fillStatus(ctx context.Context, st *api.Status) (err error) {
	if st.Position, err = s.Log.Last(ctx); err != nil {
		return err
	}
	st.Views, st.Erasure = s.lags(st.Position), s.erasureStatus()
	if st.Projects, err = s.projectCounts(ctx, s.known()); err != nil {
		return err
	}
	if s.Vectors != nil {
		far := s.Vectors.Stats()
		st.Vectors = &far
	}
	if st.Inputs, err = s.Views.Balance(ctx); err != nil {
		return err
	}
	if st.Today, err = s.usages.today(ctx); err != nil {
		return err
	}
	if st.Actors, err = s.system.Status(ctx); err != nil && st.Ready {
		return err
	}
	if err := s.fillHealth(ctx, st); err != nil {
		return err
	}
	if err := s.fillHidden(ctx, st); err != nil {
		return err
	}
	st.Providers = providersNow(s.providers, st.Actors.Status, s.now())
	return nil
}

// hiddenSpan is the time of which status lists the sessions that are hidden, and mostHidden how many at most.
const (
	hiddenSpan = 7 * 24 * time.Hour
	mostHidden = 100
)

// fillHidden lists the sessions that ignore files hide.
func (s *statuses) fillHidden(ctx context.Context, st *api.Status) error {
	found, err := s.hidden(ctx, s.now().Add(-hiddenSpan))
	for _, h := range found[:min(len(found), mostHidden)] {
		st.Hidden = append(st.Hidden, api.HiddenSession{Session: h.Session, Agent: h.Agent, File: h.File, Reports: h.Count, At: h.At})
	}
	return err
}

func (s *statuses) postResume(ctx context.Context, q api.NameQuery) (api.Resumed, error) {
	at, err := s.system.Resume(ctx, q.Name)
	if errors.Is(err, actors.ErrNoProvider) {
		err = notFound("no provider of that name is asked: `cmemd provider list` names those that are")
	}
	return api.Resumed{Provider: q.Name, Position: at}, err
}

// providersNow is every provider that is configured, in order, as it is now.
func providersNow(all []api.Provider, st provider.Status, now time.Time) []api.ProviderStatus {
	used := slices.IndexFunc(all, func(p api.Provider) bool { return !p.TierOnly && p.Name == st.InUse })
	out := []api.ProviderStatus{}
	for i, p := range all {
		one := api.ProviderStatus{Name: p.Name, Model: p.Model, Tiers: p.Tiers, TierOnly: p.TierOnly, PassedOver: i < used && !p.TierOnly}
		one.State, one.Until = st.AvailabilityOf(p.Name, p.Free, now)
		switch {
		case one.State == api.ProviderPaused, one.State == api.ProviderTried:
			circuit := st.Providers[p.Name]
			one.Class, one.Probe = circuit.Class, circuit.Probe
		case one.State == api.ProviderReady && i == used:
			one.State = api.ProviderInUse
		}
		out = append(out, one)
	}
	return out
}

// fillHealth says how the observer did, and what is not well by that and by st.Actors. Its words are marked: an agent that asks
// for them must not bring them before the observer.
func (s *statuses) fillHealth(ctx context.Context, st *api.Status) (err error) {
	now := s.now()
	if st.Windows, err = s.Views.HealthWindows(ctx, now); err != nil {
		return err
	}
	if st.Health, err = s.Views.Health(ctx, now.Add(-healthSpan), time.Time{}); err != nil {
		return err
	}
	st.Findings = append([]api.Finding{}, Findings(st.Health, st.Actors.Status, now)...)
	for i := range st.Findings {
		f := &st.Findings[i]
		f.Says, f.Do = relay.Notice(f.Says), relay.Notice(f.Do)
	}
	st.Held, st.Pauses, st.Degraded = st.Health.Quarantines, st.Health.Pauses, st.Health.Degraded
	st.Health.Hours, st.Health.Quarantines, st.Health.Pauses = nil, nil, nil
	return nil
}

// lags says how far the views and the search index are behind a log that ends at last.
func (s *statuses) lags(last events.Position) []api.ViewLag {
	lag := func(name string, at events.Position, t *engine.Trouble) api.ViewLag {
		l := api.ViewLag{Name: name, Position: at, Lag: uint64(max(last, at) - at)}
		if t != nil {
			l.Stopped = t.String()
		}
		return l
	}
	index := lag(indexName, s.Index.Position(), s.Index.Trouble())
	index.Rebuilding = s.Index.Rebuilding()
	return []api.ViewLag{lag(viewsName, s.Views.Position(), s.Views.Trouble()), index}
}

// viewsName is what the views are called where they are named together.
const viewsName = "views"

// indexName is what the search index is called among the views.
const indexName = "index"

// spoolStatus says what hooks kept and noted; what cannot be read counts as nothing. It is nil without a spool.
func (s *statuses) spoolStatus() *api.SpoolStatus {
	if s.spool == nil {
		return nil
	}
	out, err := SpoolStatus(s.spool, s.Home)
	if err != nil {
		s.logger.Warn("the spool cannot be measured", "err", err)
	}
	return &out
}

// SpoolStatus says what hooks of a home kept and noted, whether its daemon runs or not. Beside an error stands what can be read.
func SpoolStatus(kept *spool.Spool, home string) (out api.SpoolStatus, err error) {
	var waiting, bad, unanswered error
	out.Waiting, out.Bytes, waiting = kept.Usage()
	out.Bad, _, bad = kept.DeadLetterUsage()
	u, unanswered := relay.ReadUnanswered(home)
	out.Unanswered, out.Lost, out.LostReason = u.Count, u.Lost, u.LostReason
	return out, errors.Join(waiting, bad, unanswered)
}

// postStop asks the daemon to end. The answer goes out before it does.
func (s *statuses) postStop(_ context.Context, q api.StopQuery) (api.Done, error) {
	s.Shutdown(cmp.Or(q.Cause, "asked over the api"))
	return http.StatusAccepted, nil
}

// notice is the line for the person, marked so that it is known when it comes back.
func (d Daemon) notice(ctx context.Context) string { return relay.Notice(d.Notice(ctx)) }

// erasureStatus says what retention and requests to forget are at.
func (s *statuses) erasureStatus() *api.ErasureStatus {
	st := s.eraser.Status()
	return &api.ErasureStatus{
		RetentionDays: int(st.Retention / (24 * time.Hour)), Inputs: st.Inputs, Looked: st.Looked, Running: st.Running, Unfinished: st.Owed,
		Requests: st.Requests,
	}
}
