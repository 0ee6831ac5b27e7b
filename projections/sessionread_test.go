package projections

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/sessions"
)

func TestResolveSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.open(0), w.open(1)
	w.tool(a, "")
	v := caughtUp(t, w)
	digits := strings.ReplaceAll(a.String(), "-", "")
	for text, want := range map[string][]events.SessionID{
		a.String():                  {a},
		strings.ToUpper(digits[:9]): {a},
		b.String()[:8]:              {b},
		digits + "0":                nil,
		"not hex":                   nil,
	} {
		if got, err := v.ResolveSession(t.Context(), text, 9); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := v.ResolveSession(t.Context(), "", 1); err != nil || len(got) != 1 {
		t.Errorf("one of all: got %v, %v", got, err)
	}
	list, err := v.Sessions(t.Context(), sessions.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		one, err := v.Session(t.Context(), s.ID)
		if diff := cmp.Diff(one, s); diff != "" || err != nil {
			t.Errorf("in the list it is another session (-alone +listed):\n%s%v", diff, err)
		}
	}
	if list[0].Inputs.Captured != 1 {
		t.Errorf("got %+v, want one input", list[0].Inputs)
	}
}
