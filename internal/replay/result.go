package replay

import "github.com/cmemd/cmemd/actors/policy"

// Result is what one policy made of a scenario.
type Result struct {
	Calls          int      `json:"calls"` // of the provider, openings included
	Respawns       int      `json:"respawns"`
	Restarts       int      `json:"restarts"`      // after an exit
	HaltedAtMS     *int64   `json:"halted_at_ms"`  // when supervision first gave up; nil: it never did
	Observations   int      `json:"observations"`  // recorded ones, of turns that were delivered
	Summaries      int      `json:"summaries"`     // the same
	DroppedTurns   int      `json:"dropped_turns"` // answered by something that did not parse, or failed without an answer, and given up
	LostBatches    int      `json:"lost_batches"`  // inputs, not turns, that nobody will see again
	Recovered      int      `json:"recovered"`     // inputs that a later turn carried to a good end
	HeldBatches    int      `json:"held_batches"`  // inputs that still wait at the end
	WastedCalls    int      `json:"wasted_calls"`
	WastedTokens   int64    `json:"wasted_tokens"`
	FlaggedCommits int      `json:"flagged_commits"`
	Error          string   `json:"error,omitempty"` // why the run was given up; the figures are then those until it was
	Decisions      []string `json:"decisions"`       // an event's ruling each, and behind it how many openings came before: keep+1

	Marks []Mark `json:"-"` // one an event, for drawing
}

// Mark is what a policy did at one event, and the bill so far.
type Mark struct {
	AtMS         int64         `json:"at_ms"`
	Decision     policy.Ruling `json:"decision"`
	Openings     int           `json:"openings,omitempty"`
	WastedTokens int64         `json:"wasted_tokens"` // so far
	Lost         int           `json:"lost"`          // inputs, so far
}
