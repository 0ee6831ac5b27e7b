package report

import (
	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/internal/replay"
)

// Lane is one of the things that become of an event, in the order in which they are drawn below one another.
type Lane int

// The lanes.
const (
	Kept Lane = iota
	Skipped
	Dropped
	Retried
	Held // asked and held, or not asked because all waits
	Restarted
	Respawned
	Halted

	laneCount = int(Halted) + 1
)

// Lanes returns all of them in their order.
func Lanes() (all []Lane) {
	for l := range Lane(laneCount) {
		all = append(all, l)
	}
	return all
}

// drawing is how a lane is drawn, and the decision that falls into it.
type drawing struct {
	name     string
	letter   byte // in a strip
	note     string
	decision policy.Ruling
}

func drawings() [laneCount]drawing {
	return [laneCount]drawing{
		Kept:      {"kept", 'k', "stored", policy.RuleKeep},
		Skipped:   {"skipped", 's', "nothing worth recording", policy.RuleSkip},
		Dropped:   {"dropped", 'd', "did not parse, given up", policy.RuleDrop},
		Retried:   {"retried", 't', "the turn's own fault; asked for again, smaller", policy.RuleRetry},
		Held:      {"held", 'h', "the provider failed, or is not asked; the inputs wait", policy.RuleHold},
		Restarted: {"restarted", 'x', "the observer exited and was started again", policy.RuleRestart},
		Respawned: {"respawned", 'R', "the observer was replaced because of what it said", policy.RuleRespawn},
		Halted:    {"halted", 'H', "supervision gave up for a while", policy.RuleHalt},
	}
}

// String is the lane's name.
func (l Lane) String() string { return drawings()[l].name }

// Letter stands for the lane in a strip of text.
func (l Lane) Letter() byte { return drawings()[l].letter }

// Note says what stands in the lane.
func (l Lane) Note() string { return drawings()[l].note }

// isSign says whether what falls into the lane is drawn as a shape: it is rare and must be seen.
func (l Lane) isSign() bool { return l >= Restarted }

// byUrgency lists the lanes by what a reader must not miss: where several fall on one place, the first is shown.
func byUrgency() []Lane {
	return []Lane{Halted, Respawned, Dropped, Retried, Held, Restarted, Kept, Skipped}
}

// laneOf returns the lane of a decision; ok is false if the policy did nothing that is drawn: an exit of what has been
// halted is none.
func laneOf(decision policy.Ruling, kind string) (l Lane, ok bool) {
	if decision == policy.RuleNone {
		return Held, kind != replay.KindExit
	}
	for l, d := range drawings() {
		if d.decision == decision {
			return Lane(l), true
		}
	}
	return 0, false
}

// Cell is what fell on one place of a strip: how many events by lane.
type Cell [laneCount]int

// Most returns the lane that a reader must not miss, and false if nothing fell there.
func (c Cell) Most() (Lane, bool) {
	for _, l := range byUrgency() {
		if c[l] > 0 {
			return l, true
		}
	}
	return 0, false
}

// Strip spreads the marks of r, one an event of s, over n places of equal time. An opening that respawned by itself is a
// respawn where it became known: at the next event.
func Strip(s *replay.Scenario, r replay.Result, n int) []Cell {
	cells := make([]Cell, n)
	end := End(s)
	for i, m := range r.Marks {
		kind := ""
		if i < len(s.Events) {
			kind = s.Events[i].Kind
		}
		at := place(m.AtMS, end, n)
		if l, ok := laneOf(m.Decision, kind); ok {
			cells[at][l]++
		}
		if m.Openings > 1 {
			cells[at][Respawned] += m.Openings - 1
		}
	}
	return cells
}

// End returns when s ends, in milliseconds from its beginning: no event is later.
func End(s *replay.Scenario) int64 {
	end := s.EndMS
	if n := len(s.Events); n > 0 {
		end = max(end, s.Events[n-1].AtMS)
	}
	return max(end, 1)
}

// place returns which of n equal parts of [0, end] a time falls into.
func place(at, end int64, n int) int {
	return min(max(int(float64(at)/float64(end)*float64(n)), 0), n-1)
}
