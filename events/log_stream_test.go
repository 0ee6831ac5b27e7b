package events_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// TestSessionStream holds the name of a session's stream to "session/" and the id as String writes it.
func TestSessionStream(t *testing.T) { // not parallel: it counts allocations
	rapid.Check(t, func(t *rapid.T) {
		id := events.SessionID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "session"))
		if got, want := id.Stream(), events.StreamID("session/"+id.String()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	var name events.StreamID
	if n := testing.AllocsPerRun(100, func() { name = events.SessionID{1}.Stream() }); n > 1 || name == "" {
		t.Errorf("a name takes %v allocations, want 1", n)
	}
}
