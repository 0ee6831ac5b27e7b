package report

import "github.com/cmemd/cmemd/internal/replay"

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

	lanes = int(Halted) + 1
)

// Lanes returns all of them in their order.
func Lanes() []Lane {
	return []Lane{Kept, Skipped, Dropped, Retried, Held, Restarted, Respawned, Halted}
}

// words is what is said of a lane: its name, its letter in a strip, what stands in it.
func (l Lane) words() (name string, letter byte, note string) {
	switch l {
	case Kept:
		return "kept", 'k', "stored"
	case Skipped:
		return "skipped", 's', "nothing worth recording"
	case Dropped:
		return "dropped", 'd', "did not parse, given up"
	case Retried:
		return "retried", 't', "the turn's own fault; asked for again, smaller"
	case Held:
		return "held", 'h', "the provider failed, or is not asked; the inputs wait"
	case Restarted:
		return "restarted", 'x', "the observer exited and was started again"
	case Respawned:
		return "respawned", 'R', "the observer was replaced because of what it said"
	}
	return "halted", 'H', "supervision gave up for a while"
}

// String is the lane's name.
func (l Lane) String() string { name, _, _ := l.words(); return name }

// Letter stands for the lane in a strip of text.
func (l Lane) Letter() byte { _, letter, _ := l.words(); return letter }

// Note says what stands in the lane.
func (l Lane) Note() string { _, _, note := l.words(); return note }

// telling lists the lanes by what a reader must not miss: where several fall on one place, the first is shown.
func telling() []Lane {
	return []Lane{Halted, Respawned, Dropped, Retried, Held, Restarted, Kept, Skipped}
}

// laneOf returns the lane of a decision; ok is false if the policy did nothing that is drawn: an exit of what has been
// halted is none.
func laneOf(decision, kind string) (l Lane, ok bool) {
	switch decision {
	case replay.DecisionKeep:
		return Kept, true
	case replay.DecisionSkip:
		return Skipped, true
	case replay.DecisionDrop:
		return Dropped, true
	case replay.DecisionRetry:
		return Retried, true
	case replay.DecisionHold:
		return Held, true
	case replay.DecisionNone:
		return Held, kind != replay.KindExit
	case replay.DecisionRestart:
		return Restarted, true
	case replay.DecisionRespawn:
		return Respawned, true
	case replay.DecisionHalt:
		return Halted, true
	}
	return 0, false
}

// Cell is what fell on one place of a strip: how many events by lane.
type Cell [lanes]int

// Most returns the lane that a reader must not miss, and false if nothing fell there.
func (c Cell) Most() (Lane, bool) {
	for _, l := range telling() {
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
