package scenarios

import (
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// TestNoStores: stores that cannot be started, or that end at once, are an error that says it, and nothing of them runs.
func TestNoStores(t *testing.T) {
	t.Parallel()
	if _, err := openStores(t.Context(), "no/such/program", t.TempDir(), io.Discard); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
	for name, want := range map[string]string{"false": "cmemd-hub did not begin (EOF): exit status 1", "echo": "cmemd-hub did not begin"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Skip("no", name)
		}
		if _, err := openStores(t.Context(), program, t.TempDir(), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestBalanceOf: what one machine has and another has not is missing there, and what stands somewhere twice is counted.
func TestBalanceOf(t *testing.T) {
	t.Parallel()
	one := func(n byte) fact { return fact{"session/a", events.Key{n}} }
	for name, tc := range map[string]struct {
		all  []known
		want balance
	}{
		"all have all":        {[]known{{one(1): 1, one(2): 1}, {one(1): 1, one(2): 1}}, balance{accepted: 2}},
		"one lacks one":       {[]known{{one(1): 1, one(2): 1}, {one(1): 1}}, balance{accepted: 2, missing: 1}},
		"each lacks another":  {[]known{{one(1): 1}, {one(2): 1}}, balance{accepted: 2, missing: 2}},
		"one has one twice":   {[]known{{one(1): 2}, {one(1): 1}}, balance{accepted: 1, twice: 1}},
		"one has one thrice":  {[]known{{one(1): 3}}, balance{accepted: 1, twice: 2}},
		"nobody has anything": {[]known{{}, {}}, balance{}},
	} {
		if got := balanceOf(tc.all); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}
