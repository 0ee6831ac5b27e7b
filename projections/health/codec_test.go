package health

import (
	"testing"

	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/filled"
)

func TestStoredFormsOfHealthAreWhole(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	filled.RoundTrips(t, c.Encode, c.Decode, spanCount{}, turnCount{}, Streak{}, Pause{}, Quarantine{}, status{})
}
