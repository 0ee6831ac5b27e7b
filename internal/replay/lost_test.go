package replay

import (
	"iter"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// TestLostRecords plays what TestWhateverIsDecidedIsProved plays, loses records as damage does, and salvages the rest: what is left is
// explained, or cannot be told, and the balance adds up.
func TestLostRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newScript(tbOf{t, rt})
		s.blaming = true
		s.life(randomSettings(rt))
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			s.randomStep(rt)
		}
		left := lose(rt, s.log.All(t.Context(), 1))
		p, err := Prove(left, Selection{}, nil)
		if err != nil || len(p.Differences) > 0 {
			rt.Fatalf("Prove: %v, %s", err, shown(p.Differences))
		}
		if a, err := Audit(t.Context(), left); err != nil || len(a.Discrepancies) > 0 {
			rt.Fatalf("the balance does not add up: %v, %s", err, shown(a))
		}
	})
}

// lose replaces some records by placeholders, and takes the payloads of some.
func lose(rt *rapid.T, all iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	relay := eventlog.NewRelay(events.NewCodec())
	var left []events.Record
	for r, err := range all {
		if err != nil {
			rt.Fatal(err)
		}
		switch rapid.IntRange(0, 15).Draw(rt, "fate") {
		case 0:
			r, err = relay.Lost(r.Stream, r.Version)
		case 1:
			r, err = relay.Lost(events.Lost, 0)
		case 2:
			r, _ = relay.Add(r.Erase())
		default:
			r, _ = relay.Add(r)
		}
		if err != nil {
			rt.Fatal(err)
		}
		left = append(left, r)
	}
	return func(yield func(events.Record, error) bool) {
		for _, r := range left {
			if !yield(r, nil) {
				return
			}
		}
	}
}
