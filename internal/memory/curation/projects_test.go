package curation

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/projects"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// TestGiveOld: at an upgrade a name is given to the one folder that is called so; of two neither is it, and where this release was
// before nothing is given.
func TestGiveOld(t *testing.T) {
	t.Parallel()
	shop, till, other := projects.Root{Path: "/src/shop", Name: "shop"}, projects.Root{Path: "/src/till", Name: "till"}, projects.Root{Path: "/old/shop", Name: "shop"}
	claimed := till
	claimed.Claim = "dir:/src/till"
	for name, c := range map[string]struct {
		known []projects.Root
		rows  map[string]int
		want  []events.Event
	}{
		"one of two names has memory":  {[]projects.Root{shop, till}, map[string]int{"shop": 2}, []events.Event{events.ProjectGiven{Name: "shop", Root: "/src/shop"}}},
		"two folders of one name":      {[]projects.Root{shop, other, till}, map[string]int{"shop": 2}, nil},
		"this release was here before": {[]projects.Root{shop, claimed}, map[string]int{"shop": 2}, nil},
		"a name of no folder":          {[]projects.Root{shop}, map[string]int{"cart": 2}, nil},
		"nothing is known":             {nil, map[string]int{"shop": 2}, nil},
	} {
		log, known := logtest.Open(t, eventlog.Config{}), projects.Known{}
		for _, r := range c.known {
			known[r.Path] = r
		}
		var learned []events.Event
		g := NewRegistrar(RegistrarConfig{
			Log: log, Known: func() projects.Known { return known }, Place: func(context.Context, string) Folder { return Folder{} },
			Count: func(_ context.Context, name string) (int, error) { return c.rows[name], nil },
			Learn: func(_ events.Record, e events.Event) { learned = append(learned, e) },
			Now:   time.Now,
		})
		n, err := g.GiveOld(t.Context(), known)
		if diff := cmp.Diff(c.want, learned); diff != "" || n != len(c.want) || err != nil {
			t.Errorf("%s: %d, %v (-want +got):\n%s", name, n, err, diff)
		}
	}
}
