package health

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/filled"
)

// TestStoredFormsOfHealthAreWhole fills every field of every stored value and reads it back.
func TestStoredFormsOfHealthAreWhole(t *testing.T) {
	t.Parallel()
	c := engine.NewCodec()
	for _, v := range []any{spanCount{}, turnCount{}, Streak{}, Pause{}, Quarantine{}, wellbeing{}} {
		in, out := reflect.New(reflect.TypeOf(v)), reflect.New(reflect.TypeOf(v))
		filled.Fill(in.Interface())
		raw, err := c.Encode(in.Elem().Interface())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Decode(raw, out.Interface()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(in.Elem().Interface(), out.Elem().Interface()); diff != "" {
			t.Errorf("%T (-stored +read):\n%s", v, diff)
		}
	}
}
