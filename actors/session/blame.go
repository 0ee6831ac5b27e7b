package session

import (
	"math"
	"slices"

	"github.com/cmemd/cmemd/events"
)

// blame is a failed turn whose class blames the turn, and the first of one provider for some of its inputs. Whether that
// provider has answered anything since is what tells a bad input from a provider that answers nothing.
type blame struct {
	position events.Position
	version  events.Version
	provider string
}

// Blamed reports whether turns over any of the inputs at ps failed by their own fault, as their provider said, since the
// inputs were owed or their batch was last halved. Such inputs let others go first.
func (s *State) Blamed(ps []events.Position) bool {
	return slices.ContainsFunc(s.indexes(ps), func(i int) bool { return s.inputs[i].refusals > 0 })
}

// blame says what the failure e means for the batch in flight: a smaller batch, or giving its input up. An input is given
// up only where the observer answered something else since it first failed on it: one that fails on everything says
// nothing of the input.
func (s *State) blame(e events.TurnFailed, most int) (halved int, give events.DropReason, spared bool) {
	attempts := 0
	for _, i := range s.turn.settles {
		attempts = max(attempts, int(s.inputs[i].attempts)+1)
	}
	n := len(s.turn.settles)
	switch {
	case n > 1 && (tooLong(e.Class) || attempts >= most):
		return (n + 1) / 2, "", false
	case n > 1 || attempts < most:
		return 0, "", false
	case !s.answeredSince(s.inputs[s.turn.settles[0]], e):
		return 0, "", e.Class.BlamesTurn()
	case tooLong(e.Class):
		return 0, events.DropOverflow, false
	case e.Class == events.FailRefused:
		return 0, events.DropRefused, false
	}
	return 0, events.DropPoison, false
}

// answeredSince reports whether something was answered since a turn over in first failed as e did: anything to this
// session, where the observer crashed; anything to anybody, where e is what the provider said. An earlier failure that
// was appended a moment ago and has no position yet counts for none.
func (s *State) answeredSince(in input, e events.TurnFailed) bool {
	if crashed(e) {
		return in.blamed != 0 && s.answered >= in.blamed
	}
	b, ok := s.blameOf(in)
	return ok && b.provider == e.Provider && b.position != 0 && e.Answered > b.position
}

// blameOf finds the blame that in bears.
func (s *State) blameOf(in input) (blame, bool) {
	i, ok := slices.BinarySearchFunc(s.blames, in.refused, func(b blame, v events.Version) int { return int(b.version) - int(v) })
	if !ok {
		return blame{}, false
	}
	return s.blames[i], true
}

// recordFailure has the inputs of a turn bear its failure, where the provider says that it is the turn's own. Of
// another provider's failures they bear no more.
func (s *State) recordFailure(h events.Header, e events.TurnFailed, settles []int) {
	first := false
	for _, i := range settles {
		in := &s.inputs[i]
		in.refusals += uint8(btoi(in.refusals < math.MaxUint8))
		if b, ok := s.blameOf(*in); !ok || b.provider != e.Provider {
			in.refused, first = h.Version, true
		}
	}
	if first {
		s.blames = append(s.blames, blame{position: h.Position, version: h.Version, provider: e.Provider})
	}
}

// placeBlame gives the blame of a failure that was evolved before it was appended its position.
func (s *State) placeBlame(r events.Record) {
	for i := len(s.blames) - 1; i >= 0; i-- {
		if s.blames[i].version == r.Version {
			s.blames[i].position = r.Position
			return
		}
	}
}
