package health

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// Report is how the observer did in a span of time, and what is not well now.
type Report struct {
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Total  Count     `json:"total"`
	Models []Model   `json:"models,omitempty"` // by provider, then model
	Hours  []Hour    `json:"hours,omitempty"`  // oldest first; hours without a turn are left out

	LastKeptAt  time.Time       `json:"last_kept_at,omitzero"` // of all time
	LastKept    events.Position `json:"last_kept,omitempty"`
	Streaks     []Streak        `json:"streaks,omitempty"`     // of every provider and model that was ever asked, in that order
	Pauses      []Pause         `json:"pauses,omitempty"`      // not ended yet; past its Until one turn at a time tries it
	Quarantines []Quarantine    `json:"quarantines,omitempty"` // in force
	Degraded    string          `json:"degraded,omitempty"`    // why the daemon only captures; empty: it does its whole job
	DegradedAt  time.Time       `json:"degraded_at,omitzero"`
	LastRespawn *Respawn        `json:"last_respawn,omitempty"` // of all time
}

// AllTime adds up all that was ever counted, whatever span h is of.
func (h Report) AllTime() Count {
	var all Count
	for _, s := range h.Streaks {
		all.add(s.All)
	}
	return all
}

// Model is the counts of one provider and model.
type Model struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
	Count
}

// Hour is the counts of one hour, or of the part of it that was asked for.
type Hour struct {
	Hour time.Time `json:"hour"`
	Count
}

// Windows is the counts of the spans that people are shown.
type Windows struct {
	Hour Window `json:"hour"`
	Day  Window `json:"day"`
	Week Window `json:"week"`
}

// Window is the counts of one span that ends now.
type Window struct {
	Since  time.Time `json:"since"`
	Total  Count     `json:"total"`
	Models []Model   `json:"models,omitempty"` // by provider, then model
}

// Streak is what one provider's model has answered since the last answer that was kept, and all that it ever did.
// Answers that say in the agreed form that there is nothing to record did what was asked: they neither count here nor
// end anything. So do blank ones to work that held nothing notable, and turns that failed.
type Streak struct {
	Provider string    `cbor:"1,keyasint,omitempty" json:"provider"`
	Model    string    `cbor:"2,keyasint,omitempty" json:"model,omitempty"`
	Unusable int64     `cbor:"3,keyasint,omitempty" json:"unusable"`         // answers that were not blank and did not parse
	Blank    int64     `cbor:"4,keyasint,omitempty" json:"blank"`            // blank ones to an edit, a commit or a failed test
	FirstAt  time.Time `cbor:"5,keyasint,omitzero" json:"first_at,omitzero"` // of the first answer since the last kept one, of any sort
	LastAt   time.Time `cbor:"6,keyasint,omitzero" json:"last_at,omitzero"`  // of the last answer of all
	KeptAt   time.Time `cbor:"7,keyasint,omitzero" json:"kept_at,omitzero"`  // of the last kept one; zero: there is none

	Kept events.Position `cbor:"8,keyasint,omitempty" json:"kept,omitempty"` // where that one lies
	All  Count           `cbor:"9,keyasint" json:"-"`                        // of all time
}

// Since is how long the streak goes back: to the last kept answer, or where there is none to the first one of all.
func (s Streak) Since() time.Time {
	if s.KeptAt.IsZero() {
		return s.FirstAt
	}
	return s.KeptAt
}

// Count counts turns by when they ended, as recorded.
type Count struct {
	Turns    int64            `cbor:"1,keyasint,omitempty" json:"turns"` // ended, failed ones included
	Kept     int64            `cbor:"2,keyasint,omitempty" json:"kept"`
	Skipped  map[string]int64 `cbor:"3,keyasint,omitempty" json:"skipped,omitempty"`  // by reason
	Dropped  map[string]int64 `cbor:"4,keyasint,omitempty" json:"dropped,omitempty"`  // by "class/reason"
	Failures map[string]int64 `cbor:"5,keyasint,omitempty" json:"failures,omitempty"` // by class
	Idle     int64            `cbor:"6,keyasint,omitempty" json:"idle"`               // outputs that were blank
	Usage    events.Usage     `cbor:"7,keyasint,omitzero" json:"usage"`
	// Latencies counts received outputs by latency: slot n holds those under 2^n milliseconds and not in a slot before.
	Latencies   [LatencySlots]int64 `cbor:"8,keyasint,omitzero" json:"latencies"`
	Holds       int64               `cbor:"9,keyasint,omitempty" json:"holds"`        // pauses that began; longer ones count once
	Quarantines int64               `cbor:"10,keyasint,omitempty" json:"quarantines"` // that began, or were renewed by a probe that crashed

	Respawns map[string]int64 `cbor:"11,keyasint,omitempty" json:"respawns,omitempty"` // of observers, by cause
}

// LatencySlots is the number of powers of two of milliseconds that Latencies distinguishes; the last one is open.
const LatencySlots = 21

// NonIdle counts the turns that answered something, be it only that there is nothing to record.
func (h Count) NonIdle() int64 {
	n := h.Kept - h.Idle
	for _, c := range h.Skipped {
		n += c
	}
	for _, c := range h.Dropped {
		n += c
	}
	return max(n, 0)
}

// Yield is kept turns over turns that answered something, 0 to 1; ok is false when none did.
func (h Count) Yield() (yield float64, ok bool) {
	n := h.NonIdle()
	if n == 0 {
		return 0, false
	}
	return float64(h.Kept) / float64(n), true
}

// add adds other's numbers to h's. It shares no map with other.
func (h *Count) add(other Count) {
	h.Turns += other.Turns
	h.Kept += other.Kept
	h.Idle += other.Idle
	h.Holds += other.Holds
	h.Quarantines += other.Quarantines
	h.Usage.Input += other.Usage.Input
	h.Usage.Cached += other.Usage.Cached
	h.Usage.Output += other.Usage.Output
	for slot, n := range other.Latencies {
		h.Latencies[slot] += n
	}
	for _, m := range []struct {
		into *map[string]int64
		from map[string]int64
	}{{&h.Skipped, other.Skipped}, {&h.Dropped, other.Dropped}, {&h.Failures, other.Failures}, {&h.Respawns, other.Respawns}} {
		for key, n := range m.from {
			addTo(m.into, key, n)
		}
	}
}

// addTo adds to an entry. One of zero is no entry, and a map without any is nil, so that what was taken back leaves no trace.
func addTo(m *map[string]int64, key string, by int64) {
	if *m == nil {
		*m = map[string]int64{}
	}
	if (*m)[key] += by; (*m)[key] == 0 {
		delete(*m, key)
	}
	if len(*m) == 0 {
		*m = nil
	}
}
