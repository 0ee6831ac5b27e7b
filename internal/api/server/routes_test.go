package server

import (
	"strings"
	"testing"
)

// TestEveryRouteIsDescribed: its value says in one line what it answers, and who may ask.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	for pattern, e := range newWorld(t, nil).server.endpoints {
		if e.Doc == "" || strings.ContainsAny(e.Doc, "\n") || len(e.Doc) > 100 {
			t.Errorf("%s is described as %q, want one line", pattern, e.Doc)
		}
		if e.Scope == 0 {
			t.Errorf("%s may be asked by anybody", pattern)
		}
	}
}
