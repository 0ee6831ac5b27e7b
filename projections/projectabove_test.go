package projections

import (
	"testing"

	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/follow"
)

func TestProjectAbove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := mustOpen(t, t.TempDir(), w.log, engine.Config{})
	defer v.Close()
	w.openIn(1, "/src/shop", "remote:x/y")
	w.openIn(2, "/src/shop/tools", "name:tools")
	w.openIn(3, "/old", "") // recorded before projects had keys
	follow.MustCatchUp(t, v)
	for file, want := range map[string]string{
		"/src/shop/src/gw.go": "/src/shop", "/src/shop": "/src/shop", "/src/shop/": "/src/shop", "/src/shop/tools/a/b.go": "/src/shop/tools",
		"/src/shopping/gw.go": "", "/src/gw.go": "", "/old/gw.go": "", "/": "", "src/shop/gw.go": "",
	} {
		if got, err := v.ProjectAbove(t.Context(), file); got != want || err != nil {
			t.Errorf("above %s: %q, %v, want %q", file, got, err, want)
		}
	}
}
