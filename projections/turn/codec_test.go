package turn

import (
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/filled"
)

func TestStoredFormsOfTurnsAreWhole(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	filled.RoundTrips(t, c.Encode, c.Decode, Turn{})
}

func FuzzStored(f *testing.F) {
	raw, _ := engine.NewCodec().Encode(Turn{Provider: "x", Rows: []events.ID{{1}}})
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, v := range []any{&Turn{}} {
			_ = engine.NewCodec().Decode(raw, v) // an error or not: it must not panic
		}
	})
}
