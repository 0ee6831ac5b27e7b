package machines

import (
	"errors"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog/share"
)

// TestOtherMachine: a name chooses the machine that is in, also where one of that name is out; of this machine, and of one that is out, it is
// said so.
func TestOtherMachine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	all := []share.Machine{
		{Name: "here", Self: true}, {Name: "here", Gone: at}, {Name: "old", Gone: at}, {Name: "laptop"}, {Name: "laptop", Gone: at}, {Name: "two"}, {Name: "two"},
	}
	for name, want := range map[string]error{
		"laptop": nil, "here": errThisMachine, "old": errGone, "two": errAmbiguous, "nobody": errNoDevice,
	} {
		m, err := otherMachine(all, name)
		if !errors.Is(err, want) || err == nil && (m.Name != name || !m.Gone.IsZero()) {
			t.Errorf("%s: got %+v, %v; want %v", name, m, err, want)
		}
	}
}
