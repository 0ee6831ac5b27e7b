package release

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, stamp, recorded, want string }{
		{"a tag", "", "v0.1.0", "0.1.0"},
		{"a commit", "", "v0.1.1-0.20261126143440-6b00cffd0276", "0.1.1-0.20261126143440-6b00cffd0276"},
		{"a commit before any tag", "", "v0.0.0-20261126143440-6b00cffd0276", "0.0.0-20261126143440-6b00cffd0276"},
		{"a clone with changes", "", "v0.1.0+dirty", "0.1.0+dirty"},
		{"go run, or no repository", "", "(devel)", "dev"},
		{"before Go recorded any", "", "", "dev"},
		{"a stamp goes before", "v0.2.0", "v0.1.0", "0.2.0"},
		{"a stamp without v", "0.2.0-SNAPSHOT-6b50214", "(devel)", "0.2.0-SNAPSHOT-6b50214"},
		{"a stamp of words", "vendored", "v0.1.0", "vendored"},
	} {
		build := &debug.BuildInfo{Main: debug.Module{Version: c.recorded}}
		if got := of(c.stamp, func() (*debug.BuildInfo, bool) { return build, true }); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := of("", func() (*debug.BuildInfo, bool) { return nil, false }); got != Unknown {
		t.Errorf("without build information: got %q", got)
	}
}
