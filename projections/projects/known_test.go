package projects

import (
	"slices"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// TestNamedPrefersThisMachine: a name means this machine's folder, also where another machine's of that name was used later.
func TestNamedPrefersThisMachine(t *testing.T) {
	t.Parallel()
	theirs := engine.Origin{Joined: true}.Root(events.LogID{1}, "/src/work")
	if _, _, ok := engine.MachineRoot(theirs); !ok {
		t.Fatalf("%q is no other machine's", theirs)
	}
	known := Known{}
	for _, r := range []Root{{Path: theirs, Key: "dir:" + theirs, Name: "work", Last: 9}, {Path: "/a/work", Key: "dir:/a/work", Name: "work", Last: 3}} {
		known[r.Path] = r
	}
	if got, want := Paths(known.Named("work")), []string{"/a/work", theirs}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
