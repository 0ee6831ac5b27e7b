package outcomes

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// outcomeCodes is how many outcomes there are. They are stored by their numbers: Pending is zero, as every input begins.
const outcomeCodes = session.Forgotten + 1

// rare reports whether few inputs have the outcome, so that a list of them costs little to keep.
func rare(o session.Outcome) bool { return o >= session.Skipped }

func codeOf(o Outcome) (session.Outcome, bool) {
	for c := session.Pending; c <= session.Forgotten; c++ {
		if c.String() == string(o) {
			return c, true
		}
	}
	return 0, false
}

const inputKinds = 3

func kindsByCode() [inputKinds]events.Kind {
	return [inputKinds]events.Kind{events.KindToolUsed, events.KindContextCompacted, events.KindAgentStopped}
}

func codeOfKind(k events.Kind) byte {
	kinds := kindsByCode()
	return byte(max(0, slices.Index(kinds[:], k)))
}

// input is an input and its outcome as stored: there are as many as tool calls, so it has a form of its own.
type input struct {
	session  events.SessionID
	at       int64           // Unix nanoseconds, as recorded
	previous events.Position // input of the same session
	turn     events.ID       // that decided
	outcome  session.Outcome
	kind     byte
	asks     session.Answers
	asked    bool      // by a person, to be observed again
	again    events.ID // the turn after whose answer its session asks once more; zero: it does not
	givenUp  bool      // dropped without an output, for reason
	reason   string    // else it is the turn's
}

// reobserve reports whether the input is to be observed again.
func (in input) reobserve() bool { return in.asked || in.again != events.ID{} }

// settle lets a turn decide.
func (in *input) settle(to session.Outcome, turn events.ID) {
	if in.outcome == session.Forgotten {
		return
	}
	in.asked, in.again = false, events.ID{}
	if in.outcome.SettledAs(to) == to {
		in.outcome, in.turn, in.givenUp, in.reason = to, turn, false, ""
	}
}

func (in *input) giveUp(turn events.ID, reason events.DropReason) {
	in.settle(session.Dropped, turn)
	if in.outcome == session.Dropped {
		in.givenUp, in.reason = true, string(reason)
	}
}

func (in *input) forget() {
	in.outcome, in.asked, in.again = session.Forgotten, false, events.ID{}
}

// ask lets a person ask for it again.
func (in *input) ask() {
	if in.outcome != session.Forgotten {
		in.asked, in.again, in.asks = true, events.ID{}, 0
	}
}

// askAgain lets its session ask once more after a turn's answer.
func (in *input) askAgain(turn events.ID) {
	if in.outcome != session.Forgotten {
		in.again = turn
	}
}

// Form ends with the turn of again, if there is one, and the reason.
func (in *input) Form(p *engine.Packed) {
	p.Fixed(in.session[:])
	p.Int64(&in.at)
	p.Uint64((*uint64)(&in.previous))
	p.Fixed(in.turn[:])
	p.Code((*byte)(&in.outcome), int(outcomeCodes))
	p.Code(&in.kind, inputKinds)
	again := in.again != events.ID{}
	p.Flags(&in.asked, &in.givenUp, &again)
	p.Code((*byte)(&in.asks), 1<<8)
	if again {
		p.Fixed(in.again[:])
	}
	p.Rest(&in.reason)
}

// MarshalJSON writes what is stored of an input, in the words of Input.
func (in input) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Session   events.SessionID `json:"session"`
		Kind      events.Kind      `json:"kind"`
		At        time.Time        `json:"at"`
		Outcome   Outcome          `json:"outcome"`
		Turn      events.ID        `json:"turn,omitzero"`
		Reason    string           `json:"reason,omitempty"` // of inputs that were given up; else it is the turn's
		Reobserve bool             `json:"reobserve,omitzero"`
	}{in.session, kindsByCode()[in.kind%inputKinds], time.Unix(0, in.at).UTC(), Outcome(in.outcome.String()), in.turn, in.reason, in.reobserve()})
}

// decider is a turn as far as outcomes depend on it.
type decider struct {
	Settles []events.Position `cbor:"1,keyasint,omitempty" json:"settles"`
	Class   string            `cbor:"2,keyasint,omitempty" json:"class,omitempty"`
	Reason  string            `cbor:"3,keyasint,omitempty" json:"reason,omitempty"`
	Fresh   bool              `cbor:"4,keyasint,omitempty" json:"fresh,omitempty"` // its answer earned a fresh generation
}

// balance is the stored form of a Balance. The zero session's is that of all.
type balance struct {
	Counts  [outcomeCodes]int64 `cbor:"1,keyasint" json:"counts"` // by code
	Reasons map[string]int64    `cbor:"2,keyasint,omitempty" json:"reasons,omitempty"`
	Asked   int64               `cbor:"3,keyasint,omitempty" json:"asked,omitempty"` // to be observed again, as input.reobserve says
	Last    events.Position     `cbor:"4,keyasint,omitempty" json:"last,omitempty"`  // the session's latest input
}

func rareKey(c session.Outcome, p events.Position) []byte {
	return append([]byte{byte(c)}, engine.PositionKey(p)...)
}
