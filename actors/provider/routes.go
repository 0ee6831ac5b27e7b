package provider

import (
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// Candidate is a route that a turn may be asked by, as far as it matters to whether it may be.
type Candidate struct {
	Index    int    // by which the caller knows the route, each its own
	Provider string // its name; routes to several of its models share it
	Free     bool   // its answers cost nothing: no budget holds it
}

// Routes are all that turns may be asked by.
type Routes struct {
	Providers []Candidate // in the order in which they are preferred, each provider once; at least one
	Summaries *Candidate  // asked first for summaries; nil: as for others
	Trivial   *Candidate  // asked first about inputs that are all trivial; nil: as about others
}

// Requirement is what a session wants a lease for, as far as it matters to whom the turn is asked of. The zero value is none.
type Requirement struct {
	Kind     events.TurnKind
	Fresh    bool   // the last provider's outputs were of no use
	Provider string // that a person named; empty: none
	Probe    bool   // of a quarantine
	Trip     int    // of a probe: how many quarantines in a row it ends
	Blamed   bool   // some of its inputs have failed by their own fault
}

// RequirementOf is what matters of a turn to whom it is asked of; of nil the zero value, which no lease is for.
func RequirementOf(w *session.Work) Requirement {
	if w == nil {
		return Requirement{}
	}
	return Requirement{Kind: w.Kind, Fresh: w.Fresh, Provider: w.Provider, Probe: w.Probe, Trip: w.Trip, Blamed: w.Blamed}
}

// providersToSkip is how many of the list come last because others did not serve: after outputs of no use the first, and after a row of
// crashes one more with each quarantine, since nobody pauses for a crash.
func (q Requirement) providersToSkip() int {
	if q.Fresh {
		return 1
	}
	return q.Trip
}

// all are the candidates, those of tiers last.
func (r Routes) all() []Candidate {
	all := slices.Clone(r.Providers)
	for _, c := range []*Candidate{r.Summaries, r.Trivial} {
		if c != nil {
			all = append(all, *c)
		}
	}
	return all
}

// Names are the names of all providers, each once: as they are preferred, then those of tiers alone.
func (r Routes) Names() (names []string) {
	for _, c := range r.all() {
		if !slices.Contains(names, c.Provider) {
			names = append(names, c.Provider)
		}
	}
	return names
}

// isFree reports whether what is asked of a provider by name costs nothing.
func (r Routes) isFree(name string) bool {
	return slices.ContainsFunc(r.all(), func(c Candidate) bool { return c.Provider == name && c.Free })
}

// Candidates are whom a turn may be asked of, in the order in which they are preferred. A provider that a person named
// stands alone while it is there. Whoever begins anew does so further down the list, without the tier.
func (r Routes) Candidates(q Requirement) []Candidate {
	if named, ok := r.named(q); ok {
		return []Candidate{named}
	}
	list := make([]Candidate, 0, len(r.Providers)+1)
	if q.Kind == events.TurnSummary && r.Summaries != nil && q.providersToSkip() == 0 {
		list = append(list, *r.Summaries)
	}
	for i := range r.Providers {
		list = append(list, r.Providers[(i+q.providersToSkip())%len(r.Providers)])
	}
	return list
}

// trivialFor returns whom a turn may be asked of instead if all its inputs prove trivial; nil: nobody.
func (r Routes) trivialFor(q Requirement) *Candidate {
	if _, named := r.named(q); named || q.Kind != events.TurnObservation || q.providersToSkip() > 0 {
		return nil
	}
	return r.Trivial
}

// named returns the provider that a person named; ok is false where none is, or it is not there any more.
func (r Routes) named(q Requirement) (c Candidate, ok bool) {
	if q.Provider == "" {
		return Candidate{}, false
	}
	all := r.all()
	i := slices.IndexFunc(all, func(c Candidate) bool { return c.Provider == q.Provider })
	if i < 0 {
		return Candidate{}, false
	}
	return all[i], true
}
