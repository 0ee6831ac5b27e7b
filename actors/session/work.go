package session

import (
	"fmt"
	"slices"

	"github.com/cmemd/cmemd/events"
)

// Work is one turn that is due.
type Work struct {
	Kind     events.TurnKind
	Settles  []events.Position // never empty
	Reads    []events.Position // for an observation turn what was said around its inputs, and the stop that ended the work; of Offers what was chosen
	Gone     []events.Position // of Reads: what is forgotten, so that its words are not read even while they are there. No part of what is due
	Offers   []events.Position // for a summary turn the session's prompts and observations, oldest first: which of them it reads is chosen by what they say
	Brief    []events.Position // the session's last ten observations, for the brief
	Fresh    bool              // outputs earned this generation, and nothing was kept since: the brief's titles are left out
	Attempt  int               // from 1; a higher one asks with less
	Cuts     int               // how often the one input was too long alone: each halves what may be sent of it
	Blamed   bool              // turns over some of its inputs failed by their own fault: see State.Blamed
	Probe    bool              // the one turn of a quarantine that is over
	Trip     int               // of a probe: how many quarantines in a row it ends, from 1. No part of what is due
	Prompt   int               // number of the user's prompt it is about; 0 before the first
	PromptAt events.Position   // the prompt itself; 0: none, or it is forgotten
	Provider string            // that a person asked for; empty: any. It is a preference, and no part of what is due
	Known    events.Version    // of the session when it was made: its prompt may hold what is forgotten after that. 0: not known. No part of what is due
}

// difference says how o differs from w in what is recorded of a turn; empty: it does not. A nil w is no turn at all.
func (w *Work) difference(o Work) string {
	switch {
	case w == nil || !slices.Equal(w.Settles, o.Settles):
		return fmt.Sprintf("settles %v", o.Settles)
	case w.Kind != o.Kind:
		return fmt.Sprintf("%s turn, not %s", o.Kind, w.Kind)
	case !w.mayRead(o.Reads):
		return fmt.Sprintf("reads %v, not %v", o.Reads, slices.Concat(w.Reads, w.Offers))
	case w.Attempt != o.Attempt:
		return fmt.Sprintf("attempt %d, not %d", o.Attempt, w.Attempt)
	case w.Prompt != o.Prompt:
		return fmt.Sprintf("prompt %d, not %d", o.Prompt, w.Prompt)
	case w.Probe != o.Probe:
		return fmt.Sprintf("probe %t, not %t", o.Probe, w.Probe)
	}
	return ""
}

// mayRead reports whether a turn over w may read what it is said to: some of what is offered, in order, or else just what w says.
func (w *Work) mayRead(reads []events.Position) bool {
	if len(w.Offers) == 0 {
		return slices.Equal(w.Reads, reads)
	}
	rest := w.Offers
	for _, p := range reads {
		i := slices.Index(rest, p)
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}
