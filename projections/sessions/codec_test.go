package sessions

import (
	"testing"

	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/filled"
)

func TestStoredFormsOfSessionsAreWhole(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	filled.RoundTrips(t, c.Encode, c.Decode, Session{})
}

func FuzzStored(f *testing.F) {
	raw, _ := engine.NewCodec().Encode(Session{Agent: "x", Turns: 2})
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, v := range []any{&Session{}} {
			_ = engine.NewCodec().Decode(raw, v) // an error or not: it must not panic
		}
	})
}
