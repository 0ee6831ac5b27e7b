package mcp

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/api"
)

// TestOthersAreNamed: an agent hears that other machines have records that fit and stay, whether or not something of this one was asked for.
func TestOthersAreNamed(t *testing.T) {
	t.Parallel()
	for name, done := range map[string]api.Forgotten{
		"theirs alone": {Others: 3}, "theirs and own": {Others: 3, Request: &api.OpenRequest{Name: "f7"}},
	} {
		if got := doneText(done); !strings.Contains(got, "3 records of the user's other machines") || !strings.Contains(got, "`cmemd forget`") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := doneText(api.Forgotten{}); got != nothingFits {
		t.Errorf("nothing at all: %s", got)
	}
}
