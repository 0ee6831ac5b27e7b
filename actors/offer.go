package actors

import (
	"slices"

	"github.com/cmemd/cmemd/events"
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

// need is what a session wants a lease for, as far as it matters to whom the turn is asked of.
type need struct {
	kind     events.TurnKind
	fresh    bool   // the last provider's outputs were of no use
	provider string // that a person named; empty: none
	probe    bool   // of a quarantine
	trip     int    // of a probe: how many quarantines in a row it ends
	blamed   bool   // some of its inputs have failed by their own fault
}

// skip is how many of the list come last because others did not serve: after outputs of no use the first, and after a row of
// crashes one more with each quarantine, since nobody pauses for a crash.
func (n need) skip() int {
	if n.fresh {
		return 1
	}
	return n.trip
}

// lease says whom a turn is asked of.
type lease struct {
	need    need
	offer   *Offer
	instead []string // providers that come before it and were passed over
	trivial *Offer   // to be asked instead if all inputs prove trivial; nil: there is none, or it may not be asked

	answered   events.Position // what offer answered last; 0: nothing is known
	trivialHas events.Position // the same of trivial
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

// names are those of all offers, each once, in their order.
func (c *Config) names() (names []string) {
	for _, o := range c.offers() {
		if !slices.Contains(names, o.Name()) {
			names = append(names, o.Name())
		}
	}
	return names
}

// candidates are whom a turn may be asked of, in the order in which they are preferred. A provider that a person named
// stands alone while it is there. Whoever begins anew does so further down the list, without the tier.
func (c *Config) candidates(n need) []*Offer {
	if named := c.named(n); named != nil {
		return []*Offer{named}
	}
	list := make([]*Offer, 0, len(c.Providers)+1)
	if n.kind == events.TurnSummary && c.Summaries != nil && n.skip() == 0 {
		list = append(list, c.Summaries)
	}
	for i := range c.Providers {
		list = append(list, &c.Providers[(i+n.skip())%len(c.Providers)])
	}
	return list
}

// trivialFor returns whom a turn may be asked of instead if all its inputs prove trivial; nil: nobody.
func (c *Config) trivialFor(n need) *Offer {
	if n.kind != events.TurnObservation || n.skip() > 0 || c.named(n) != nil {
		return nil
	}
	return c.Trivial
}

// named returns the provider that a person named; nil: none, or it is not there any more.
func (c *Config) named(n need) *Offer {
	if n.provider == "" {
		return nil
	}
	return c.offer(n.provider)
}
