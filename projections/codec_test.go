package projections

import (
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

func TestKnownKinds(t *testing.T) {
	t.Parallel()
	c := events.NewCodec()
	for _, k := range []events.Kind{"session_dreamt", ""} {
		if engine.KnownKind(k) {
			t.Errorf("%q is known", k)
		}
	}
	for _, k := range allKinds(t) {
		if _, err := c.Decode(k, 1, []byte{0xa0}); err != nil {
			t.Errorf("%s: %v", k, err)
		}
		if !engine.KnownKind(k) {
			t.Errorf("%s is not known", k)
		}
	}
}
