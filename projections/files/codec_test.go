package files

import (
	"testing"

	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/filled"
)

func TestStoredFormsOfFilesAreWhole(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	filled.RoundTrips(t, c.Encode, c.Decode, Touch{}, engine.Facts{}, touched{}, rootName{})
}

func FuzzStored(f *testing.F) {
	raw, _ := engine.NewCodec().Encode(&fileRef{Modified: true, Path: "x"})
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, v := range []any{&Touch{}, &fileRef{}} {
			_ = engine.NewCodec().Decode(raw, v) // an error or not: it must not panic
		}
	})
}
