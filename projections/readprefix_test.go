package projections

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

func TestPrefixes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	defer v.Close()
	id := func(tail ...byte) (id events.ID) {
		copy(id[:], []byte{1, 0x9a, 0x2b, 0x3c, 0x4d, 0x5e, 0x70, 1})
		copy(id[8:], tail)
		return id
	}
	alone := events.ID{2, 3}
	same8, same10, twin, gone := id(1), id(2, 2, 1), id(2, 2, 2), id(9, 9, 1)
	save := func(ids ...events.ID) {
		for _, id := range ids {
			w.say(events.Daemon, events.ID{}, events.MemorySaved{Memory: id, Text: "x"})
		}
	}
	save(alone, same8, same10, gone)
	w.say(sessionOf(0).Stream(), events.ID{}, events.ObservationParsed{Observation: twin, Title: "x"})
	w.say(events.Daemon, events.ID{}, events.MemoryForgotten{IDs: []events.ID{gone}})
	mustCatchUp(t, v)
	got, err := v.Prefixes(t.Context(), []events.ID{alone, same8, same10, twin, gone}, 8, 10)
	if diff := cmp.Diff([]int{8, 10, 16, 16, 10}, got); err != nil || diff != "" {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
}
