package capture

import (
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/importer"
)

// Ingested says what became of a transcript.
type Ingested struct {
	Sessions   []events.SessionID `json:"sessions"` // the first thousand; never null
	Lines      int                `json:"lines"`
	Captured   int                `json:"captured"`          // new facts
	Duplicates int                `json:"duplicates"`        // facts that were known
	Skipped    map[string]int     `json:"skipped,omitempty"` // lines that mean nothing here, by the agent's name of their kind
	Malformed  int                `json:"malformed"`         // lines that were not understood
	Refused    int                `json:"refused,omitempty"` // facts that could not be recorded
	Bad        []BadLine          `json:"bad,omitempty"`     // the first hundred malformed lines and refused facts
	Offset     int64              `json:"offset"`            // bytes of the lines that were read whole
	Partial    int64              `json:"partial,omitempty"` // bytes of a last line that is not finished yet
	Last       time.Time          `json:"last,omitzero"`     // the latest time of a line, whatever it means; zero: none has one
	Position   events.Position    `json:"position"`          // of the last record it led to; 0: none
}

// SilentSession is a session of which nothing more may come.
type SilentSession struct {
	Session events.SessionID `json:"session"`
	Last    time.Time        `json:"last,omitzero"` // Ingested.Last of its transcripts, the latest
}

// Settled says what became of sessions that may have left something unfinished.
type Settled struct {
	Ended    int             `json:"ended"`             // that had work or words without an end, and were silent for idle_stop
	Refused  int             `json:"refused,omitempty"` // that are parked
	Position events.Position `json:"position"`          // of the last record it led to; 0: none
}

// BadLine is one line that was not understood, or whose fact was refused.
type BadLine struct {
	Line   int    `json:"line"` // from 1; of a refused fact: how many lines had been read, which is at or after its own
	Detail string `json:"detail"`
}

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
