package injections

import (
	"testing"

	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/filled"
)

func TestStoredFormsOfInjectionsAreWhole(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	filled.RoundTrips(t, c.Encode, c.Decode, Injection{}, Asked{})
}
