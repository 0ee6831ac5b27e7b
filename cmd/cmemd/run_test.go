package main

import (
	"errors"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

func TestWantsJSON(t *testing.T) {
	t.Parallel()
	usage := &terminal.UsageError{Message: "unknown flag: --nope"}
	for _, c := range []struct {
		err  error
		args []string
		want bool
	}{
		{usage, []string{"search", "--nope", "--json"}, true},
		{usage, []string{"--json=true", "search"}, true},
		{usage, []string{"search", "--nope"}, false},
		{usage, []string{"search", "--nope", "--", "--json"}, false},
		{errors.New("x"), []string{"save", "--title", "--json", "x"}, false},
		{nil, []string{"--json"}, false},
	} {
		if got := wantsJSON(c.err, c.args); got != c.want {
			t.Errorf("%v, %q: got %v", c.err, c.args, got)
		}
	}
}
