package main

import (
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

func TestIsNewer(t *testing.T) {
	t.Parallel()
	order := []string{"0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "v1.0.0-rc.1", "1.0.0", "v1.0.1+build.5", "1.2.0", "1.10.0", "v2.0.0"}
	for i, a := range order {
		for j, b := range order {
			if got := terminal.IsNewer(a, b); got != (i > j) {
				t.Errorf("isNewer(%q, %q) = %v", a, b, got)
			}
		}
	}
	for _, c := range [][2]string{{"dev", "1.0.0"}, {"1.0.0", "dev"}, {"1.0.0", ""}, {"1.0", "0.1.0"}, {"2.0.0.0", "1.0.0"}, {"1.0.0", "1.0.0+x"}} {
		if terminal.IsNewer(c[0], c[1]) {
			t.Errorf("isNewer(%q, %q)", c[0], c[1])
		}
	}
}
