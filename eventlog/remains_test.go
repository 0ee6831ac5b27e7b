package eventlog_test

import (
	"slices"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestRemains: what was erased is found in the pages of the file until it is compacted, also where later records were written.
func TestRemains(t *testing.T) {
	t.Parallel()
	l := tempLog(t)
	mustAppend(t, l, logtest.Session("a"), 0, numbered("word", 500)...)
	check := func(when string, want ...events.Position) {
		t.Helper()
		if got, err := l.Remains(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v, want %v", when, got, err, want)
		}
	}
	check("nothing was erased")
	if err := l.Erase(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	check("erased", 7)
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, logtest.Session("a"), 500, "after")
	check("compacted")
}
