package actors

import (
	"sync"

	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/internal/observer"
)

// Route is a provider that turns may be asked of.
type Route struct {
	observer.Provider
	Mode observer.Mode // types and concepts of its observations; zero means observer.CodeMode
	Free bool          // its answers cost nothing: no budget holds it
}

// codeTypes are those of observer.CodeMode, which is read from a file: that is not worth doing each turn.
var codeTypes = sync.OnceValue(func() []string { return observer.CodeMode().TypeIDs() })

// typeIDs are the types that its observations may have. The slice is not to be changed.
func (r Route) typeIDs() []string {
	if len(r.Mode.Types) == 0 {
		return codeTypes()
	}
	return r.Mode.TypeIDs()
}

// allRoutes are all that turns may be asked of, those of tiers last.
func (c *Config) allRoutes() (all []*Route) {
	for i := range c.Providers {
		all = append(all, &c.Providers[i])
	}
	for _, o := range []*Route{c.Summaries, c.Trivial} {
		if o != nil {
			all = append(all, o)
		}
	}
	return all
}

// route returns the first route of that name; nil: there is none.
func (c *Config) route(name string) *Route {
	for _, o := range c.allRoutes() {
		if o.Name() == name {
			return o
		}
	}
	return nil
}

// candidates are all routes as the provider core knows them, by their index.
func (c *Config) candidates() (r provider.Routes) {
	for i, o := range c.allRoutes() {
		candidate := provider.Candidate{Index: i, Provider: o.Name(), Free: o.Free}
		switch o {
		case c.Summaries:
			r.Summaries = &candidate
		case c.Trivial:
			r.Trivial = &candidate
		default:
			r.Providers = append(r.Providers, candidate)
		}
	}
	return r
}
