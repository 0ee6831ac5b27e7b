package curation

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/usage"
)

const (
	// maxReobserve is how many inputs one request takes, some 20 MB while it is waited for: who wants more asks again.
	maxReobserve = 100_000

	// selectPage is how many inputs are read of the views at once.
	selectPage = 4096
)

// System acts on sessions, and says what it is doing. An *actors.System is one.
type System interface {
	actors.Sink
	// Status says what is going on.
	Status(ctx context.Context) (actors.Status, error)
}

// ReobserverConfig is what a Reobserver works with. All of it is required but Price.
type ReobserverConfig struct {
	System    System
	Log       eventlog.Log
	Views     *projections.Views
	Providers []api.Provider // that may be asked
	Price     usage.Price    // what tokens of a provider's model cost; nil: that is never known
	Now       func() time.Time
	NewID     func() events.ID                // UUIDv7
	CaughtUp  func(ctx context.Context) error // as Config has it
}

// Reobserver has inputs observed again. Its methods are safe for concurrent use.
type Reobserver struct {
	cfg  ReobserverConfig
	lock *semaphore.Weighted // holds one token: one request at a time, so that nothing is asked for twice
}

// NewReobserver returns a Reobserver.
func NewReobserver(cfg ReobserverConfig) *Reobserver {
	return &Reobserver{cfg: cfg, lock: semaphore.NewWeighted(1)}
}

// Reobserve is one request to observe inputs again.
type Reobserve struct {
	Most int // inputs that it takes; what a turn kept together is not parted by it

	r        *Reobserver
	req      api.ReobserveRequest
	provider api.Provider
	filter   outcomes.Filter
	taken    map[events.Position]bool         // chosen, or looked at and passed over
	inputs   map[events.SessionID][]api.Input // what is chosen, the oldest first once the choice is made
	order    []events.SessionID               // of those
	asked    map[events.SessionID]struct{}    // sessions in which something chosen was asked for before
	out      api.Reobserved
}

// Request makes a request of req for the inputs that f chooses, by which the names in req were read. Its Run carries it out.
func (r *Reobserver) Request(ctx context.Context, req api.ReobserveRequest, f outcomes.Filter) (*Reobserve, error) {
	provider, err := r.provider(req.Provider)
	if err != nil {
		return nil, err
	}
	if req.Provider == "" {
		provider = r.inUse(ctx, provider)
	}
	f.Class, f.Reason, f.Since, f.Until, f.Limit = req.Class, req.Reason, req.Since, req.Until, selectPage
	if req.Dropped {
		f.Outcome = outcomes.Dropped
	}
	return &Reobserve{
		Most: maxReobserve, r: r, req: req, provider: provider, filter: f, taken: map[events.Position]bool{},
		inputs: map[events.SessionID][]api.Input{}, asked: map[events.SessionID]struct{}{},
		out: api.Reobserved{DryRun: req.DryRun, Provider: provider.Name, Model: provider.Model},
	}, nil
}

// provider is the one of that name, or the current one.
func (r *Reobserver) provider(name string) (api.Provider, error) {
	var known []string
	for _, p := range r.cfg.Providers {
		if name == "" || p.Name == name {
			return p, nil
		}
		if !slices.Contains(known, p.Name) {
			known = append(known, p.Name)
		}
	}
	if name == "" {
		return api.Provider{}, nil
	}
	return api.Provider{}, refusal.At("/provider", "is no provider here; there are: %s", strings.Join(known, ", "))
}

// inUse is who would be asked now in the place of first, by whose batch limits turns are made all the same; first where nobody is.
func (r *Reobserver) inUse(ctx context.Context, first api.Provider) api.Provider {
	st, err := r.cfg.System.Status(ctx)
	if err != nil || st.InUse == "" {
		return first
	}
	now, err := r.provider(st.InUse)
	if err != nil {
		return first
	}
	now.BatchLimits = first.BatchLimits
	return now
}
