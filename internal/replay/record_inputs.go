package replay

import (
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/cmemd/cmemd/events"
)

// recordedInput is an input's form in a scenario.
type recordedInput struct {
	Position events.Position `json:"position"`
	At       time.Time       `json:"at"`
	Kind     events.Kind     `json:"kind"`
	Event    events.Event    `json:"event"`
}

// inputOf is an input in the batch of an event.
type inputOf struct {
	event    int
	position events.Position
}

// positions is a set of them, a bit each.
type positions []uint64

// add adds p and reports whether it was not in it.
func (s *positions) add(p events.Position) bool {
	if s.has(p) {
		return false
	}
	if n := int(p/64) + 1; n > len(*s) {
		*s = append(*s, make([]uint64, n-len(*s))...)
	}
	(*s)[p/64] |= 1 << (p % 64)
	return true
}

func (s positions) has(p events.Position) bool {
	return p/64 < events.Position(len(s)) && s[p/64]&(1<<(p%64)) != 0
}

// takeInputs reads what the inputs of the recorded events were about. Of a log it holds no more than that.
func (c *recorder) takeInputs(records iter.Seq2[events.Record, error]) error {
	contents := make(map[events.Position]json.RawMessage, len(c.inputs))
	for r, err := range records {
		if err != nil {
			return err
		}
		if r.Position > c.turns.seen.last {
			break
		}
		if !c.counted.has(r.Position) {
			continue
		}
		text, err := inputText(r)
		if err != nil {
			return err
		}
		contents[r.Position] = text
	}
	for _, in := range c.inputs {
		text := contents[in.position]
		if text == nil {
			c.addGap(in.position, "", "what this input was about is erased")
			continue
		}
		e := &c.out.Scenario.Events[in.event]
		e.Inputs = append(e.Inputs, text)
	}
	return nil
}

// inputText is an input as JSON; nil: it was erased.
func inputText(r events.Record) (json.RawMessage, error) {
	e, err := eventOf(r)
	if e == nil || err != nil {
		return nil, err
	}
	text, err := json.Marshal(recordedInput{r.Position, r.OccurredAt, r.Kind, e})
	if err != nil {
		return nil, fmt.Errorf("replay: input %d: %w", r.Position, err)
	}
	return text, nil
}
