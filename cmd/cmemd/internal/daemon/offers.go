package daemon

import (
	"errors"
	"log/slog"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/providers"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/setting"
)

// providerSet is everybody whom the settings name, each made once.
type providerSet struct {
	order     []*providers.Built // the provider, and what stands in for it
	summaries *providers.Built   // nil: no tier
	trivial   *providers.Built   // nil: no tier
	all       []*providers.Built // those of the order first
}

// newProviderSet has b make everybody whom its settings name, or says what one of them lacks.
func newProviderSet(b providers.Builder) (*providerSet, error) {
	l, made, out := b.Settings, map[setting.Asked]*providers.Built{}, &providerSet{}
	for _, who := range l.Configured() {
		p, err := b.Make(who)
		if err != nil {
			return nil, errors.Join(err, out.close())
		}
		made[who] = p
		out.all = append(out.all, p)
	}
	for _, name := range l.Order() {
		out.order = append(out.order, made[setting.Asked{Name: name}])
	}
	if who, ok := l.Resolve(l.Summary); ok {
		out.summaries = made[who]
	}
	if who, ok := l.Resolve(l.Trivial); ok {
		out.trivial = made[who]
	}
	return out, nil
}

// sweep ends what the last daemon's observers left running. What cannot be ended keeps nobody from going on.
func (o *providerSet) sweep(logger *slog.Logger) {
	for _, p := range o.all {
		found, err := p.Sweep()
		if found > 0 {
			logger.Warn("observers of the last daemon still ran; they were ended", "provider", p.Name(), "found", found)
		}
		if err != nil {
			logger.Warn("what the last daemon's observer left cannot be looked at", "provider", p.Name(), "err", err)
		}
	}
}

// close lets go what they keep, once nobody asks any more.
func (o *providerSet) close() error {
	var errs []error
	for _, p := range o.all {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// routeOf is b as turns are asked of it.
func routeOf(b *providers.Built) actors.Route {
	return actors.Route{Provider: b.Provider, Mode: b.Mode, Free: setting.IsFree(b.Name())}
}

// routes is who is asked, in the order of the settings.
func (o *providerSet) routes() []actors.Route {
	var list []actors.Route
	for _, p := range o.order {
		list = append(list, routeOf(p))
	}
	return list
}

// tierRoute is b as the one that is asked first; nil where there is no such tier.
func tierRoute(b *providers.Built) *actors.Route {
	if b == nil {
		return nil
	}
	route := routeOf(b)
	return &route
}

// describe is what is known of them before they are asked: of the order, then of those of tiers alone.
func (o *providerSet) describe() []api.Provider {
	var list []api.Provider
	for i, p := range o.all {
		facts := api.Provider{Name: p.Name(), Model: p.Model(), BatchLimits: p.BatchLimits(), Free: setting.IsFree(p.Name())}
		facts.TierOnly = i >= len(o.order)
		if p == o.summaries {
			facts.Tiers = append(facts.Tiers, api.TierSummary)
		}
		if p == o.trivial {
			facts.Tiers = append(facts.Tiers, api.TierTrivial)
		}
		list = append(list, facts)
	}
	return list
}
