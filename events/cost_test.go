package events_test

import (
	"errors"
	"math"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// TestACostIsANumber: what has no form in JSON is neither written nor read, so that no record breaks those who show it.
func TestACostIsANumber(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	for _, cost := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if b, _, err := codec.Encode(events.TurnReceived{Cost: cost}); err == nil {
			t.Errorf("%v is encoded as %x", cost, b)
		}
		kept := events.MemoryForgotten{Spent: []events.TurnSpent{{Bill: events.Bill{Cost: cost}}}}
		if b, _, err := codec.Encode(kept); err == nil {
			t.Errorf("%v is encoded as %x in what is left of a turn", cost, b)
		}
	}
	for name, payload := range map[string][]byte{
		"NaN":  {0xa1, 0x08, 0xf9, 0x7e, 0x00},
		"+Inf": {0xa1, 0x08, 0xf9, 0x7c, 0x00},
		"-Inf": {0xa1, 0x08, 0xfb, 0xff, 0xf0, 0, 0, 0, 0, 0, 0},
	} {
		if e, err := codec.Decode(events.KindTurnReceived, 1, payload); !errors.Is(err, events.ErrCorrupt) {
			t.Errorf("%s is read as %+v, %v; want ErrCorrupt", name, e, err)
		}
	}
	if e, err := codec.Decode(events.KindTurnReceived, 1, []byte{0xa1, 0x08, 0xf9, 0x3e, 0x00}); err != nil ||
		e.(events.TurnReceived).Cost != 1.5 {
		t.Errorf("half of three is read as %+v, %v", e, err)
	}
}
