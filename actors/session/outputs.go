package session

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

const (
	// classIdle is the class of a blank output in OutputDropped. It is no sign of anything, and is not counted.
	classIdle = "idle"

	// maxUnparsed is how many outputs that did not parse a State remembers: as many as a setting lets be counted.
	maxUnparsed = 100
)

// judgeOutput adds the fresh generation that an output which did not parse may earn. Where a new generation would say
// the same again, it earns nothing.
func (s *State) judgeOutput(rules Rules, b *batch, class string) {
	if rules.Outputs == nil || rules.Batch.Fixed || class == classIdle {
		return
	}
	counted, respawn := rules.Outputs.Judge(s.unparsed, s.refreshed, b.at)
	if !respawn {
		return
	}
	b.add(events.SessionRespawned{
		From: s.generation, To: s.generation + 1, Cause: CauseUnparseable, Limits: rules.Outputs.Limits(),
		Counted: events.Counted{Unparseable: counted},
	})
}

func (s *State) countUnparsed(at time.Time) {
	s.unparsed = append(s.unparsed, at)
	s.unparsed = s.unparsed[max(0, len(s.unparsed)-maxUnparsed):]
}

// recordFreshGeneration begins a generation that outputs earned: no crash, so that restarts and delays are not touched. What
// the last of them was asked about is asked once more.
func (s *State) recordFreshGeneration(h events.Header) {
	s.fresh, s.refreshed, s.unparsed = true, h.OccurredAt, nil
	if s.ended == nil || s.ended.id != h.Correlation {
		return
	}
	for _, i := range s.ended.settles {
		if s.inputs[i].asks.First() {
			s.owe(i)
		}
	}
}
