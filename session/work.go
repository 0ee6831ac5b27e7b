package session

import "github.com/cmemd/cmemd/events"

// Work is one turn that is due.
type Work struct {
	Kind     events.TurnKind
	Settles  []events.Position // never empty
	Reads    []events.Position // observations and, for an observation turn, the stop that ended the work
	Brief    []events.Position // the session's last ten observations, for the brief
	Attempt  int               // from 1; a higher one asks with less
	Cuts     int               // how often the one input was too long alone: each halves what may be sent of it
	Provider string            // who shall be asked, because a person said so; empty: whoever there is
	Probe    bool              // the one turn of a quarantine that is over
	Prompt   int               // number of the user's prompt it is about; 0 before the first
	PromptAt events.Position   // the prompt itself; 0: none
}
