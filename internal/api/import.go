package api

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/importer"
)

// Imported says what became of another memory's entries.
type Imported struct {
	Sessions  []events.SessionID                     `json:"sessions"`            // the first thousand; never null
	Entries   int                                    `json:"entries"`             // lines that were read whole
	Recorded  map[importer.Kind]int                  `json:"recorded"`            // of each kind: new here
	Known     map[importer.Kind]int                  `json:"known,omitempty"`     // recorded by an earlier import, or by hooks and transcripts
	LeftOut   map[importer.Kind]importer.ReasonCount `json:"left_out,omitempty"`  // and why
	Shortened map[importer.Kind]importer.ReasonCount `json:"shortened,omitempty"` // of those recorded or known: not whole, and why
	Malformed int                                    `json:"malformed,omitempty"` // lines that are no entry
	Refused   int                                    `json:"refused,omitempty"`   // that could not be recorded
	Bad       []BadLine                              `json:"bad,omitempty"`       // the first hundred of these two
	Position  events.Position                        `json:"position"`            // of the last record it led to; 0: none
}
