package events_test

import (
	"testing"

	"github.com/cmemd/cmemd/events"
)

func TestEveryKindHasTraits(t *testing.T) {
	t.Parallel()
	for name, kind := range readSource(t).kinds {
		traits, known := events.Kind(kind).Traits()
		if !known {
			t.Errorf("%s has no row in traits.go", name)
		}
		if traits.Input && !traits.Reported {
			t.Errorf("%s is an input that no agent reports", name)
		}
		if traits.Input && !traits.Words {
			t.Errorf("%s is an input without words: what is to be observed could not be forgotten", name)
		}
	}
	if traits, known := events.Kind("of_a_later_release").Traits(); known || traits != (events.Traits{}) {
		t.Errorf("an unknown kind has %+v, %t", traits, known)
	}
}
