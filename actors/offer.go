package actors

import (
	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/internal/observer"
)

// Offer is a provider that turns may be asked of.
type Offer struct {
	observer.Provider
	Mode observer.Mode // types and concepts of its observations; zero means observer.CodeMode
	Free bool          // its answers cost nothing: no budget holds it
}

func (o Offer) withDefaults() Offer {
	if len(o.Mode.Types) == 0 {
		o.Mode = observer.CodeMode()
	}
	return o
}

// offers are all that turns may be asked of, those of tiers last.
func (c *Config) offers() (all []*Offer) {
	for i := range c.Providers {
		all = append(all, &c.Providers[i])
	}
	for _, o := range []*Offer{c.Summaries, c.Trivial} {
		if o != nil {
			all = append(all, o)
		}
	}
	return all
}

// offer returns the first offer of that name; nil: there is none.
func (c *Config) offer(name string) *Offer {
	for _, o := range c.offers() {
		if o.Name() == name {
			return o
		}
	}
	return nil
}

// routes are the offers as candidates, by their index among them.
func (c *Config) routes() (r provider.Routes) {
	for i, o := range c.offers() {
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
