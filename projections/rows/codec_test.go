package rows

import (
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/filled"
)

func TestStoredFormsOfRowsAreWhole(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	filled.RoundTrips(t, c.Encode, c.Decode, Row{}, turnState{}, inputState{})
}

func FuzzStored(f *testing.F) {
	raw, _ := engine.NewCodec().Encode(Row{Title: "x", Turns: []events.ID{{1}}})
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, v := range []any{&Row{}, new(engine.Ref)} {
			_ = engine.NewCodec().Decode(raw, v) // an error or not: it must not panic
		}
	})
}
