package projections

import (
	"encoding/binary"

	"github.com/cmemd/cmemd/events"
)

// outcomeCode is an Outcome on disk. Pending is zero, as every input begins.
type outcomeCode byte

const (
	codePending outcomeCode = iota
	codeObserved
	codeSkipped
	codeDropped
	codeForgotten

	outcomeCodes = 5
)

func (c outcomeCode) outcome() Outcome {
	return [outcomeCodes]Outcome{Pending, Observed, Skipped, Dropped, Forgotten}[c%outcomeCodes]
}

// rare reports whether so few inputs have the outcome that a list of them is worth its upkeep.
func (c outcomeCode) rare() bool { return c >= codeSkipped }

func codeOf(o Outcome) (outcomeCode, bool) {
	for c := codePending; c < outcomeCodes; c++ {
		if c.outcome() == o {
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
	for c, known := range kindsByCode() {
		if known == k {
			return byte(c)
		}
	}
	return 0
}

// input is an input and its outcome as stored: there are as many as tool calls, so it has a form of its own.
type input struct {
	session  events.SessionID
	at       int64           // Unix nanoseconds, as recorded
	previous events.Position // input of the same session
	turn     events.ID       // that decided
	outcome  outcomeCode
	kind     byte
	asked    bool   // to be observed again
	givenUp  bool   // dropped without an output, for reason
	reason   string // else it is the turn's
}

// settle lets a turn decide: what was kept or skipped is never dropped any more, and forgotten is final.
func (in *input) settle(code outcomeCode, turn events.ID) {
	if in.outcome == codeForgotten {
		return
	}
	in.asked = false
	if code == codeDropped && (in.outcome == codeObserved || in.outcome == codeSkipped) {
		return
	}
	in.outcome, in.turn, in.givenUp, in.reason = code, turn, false, ""
}

func (in *input) giveUp(turn events.ID, reason events.DropReason) {
	in.settle(codeDropped, turn)
	if in.outcome == codeDropped {
		in.givenUp, in.reason = true, string(reason)
	}
}

func (in *input) forget() {
	in.outcome, in.asked = codeForgotten, false
}

const (
	inputFixed   = 16 + 8 + 8 + 16 + 3
	flagAsked    = 1 << 0
	flagGivenUp  = 1 << 1
	inputMaxCode = outcomeCodes - 1
)

// AppendBinary appends session, time, previous, turn, outcome, kind, flags, reason.
func (in input) AppendBinary(b []byte) ([]byte, error) {
	if b == nil {
		b = make([]byte, 0, inputFixed+len(in.reason))
	}
	b = append(b, in.session[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(in.at))
	b = binary.BigEndian.AppendUint64(b, uint64(in.previous))
	b = append(b, in.turn[:]...)
	var flags byte
	if in.asked {
		flags |= flagAsked
	}
	if in.givenUp {
		flags |= flagGivenUp
	}
	b = append(b, byte(in.outcome), in.kind, flags)
	return append(b, in.reason...), nil
}

// UnmarshalBinary reads what AppendBinary wrote.
func (in *input) UnmarshalBinary(b []byte) error {
	if len(b) < inputFixed || b[48] > inputMaxCode || b[49] >= inputKinds {
		return errShort
	}
	*in = input{
		session: events.SessionID(b[:16]), at: int64(binary.BigEndian.Uint64(b[16:])),
		previous: events.Position(binary.BigEndian.Uint64(b[24:])), turn: events.ID(b[32:48]),
		outcome: outcomeCode(b[48]), kind: b[49], asked: b[50]&flagAsked != 0, givenUp: b[50]&flagGivenUp != 0,
		reason: string(b[inputFixed:]),
	}
	return nil
}
