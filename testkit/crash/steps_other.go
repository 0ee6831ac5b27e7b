//go:build !linux

package crash

import (
	"errors"
	"testing"
)

// EachStep skips the test: processes are traced on Linux only.
func EachStep(t *testing.T, _ string, _ func(t *testing.T, dir string, kill func(args ...string) (step string))) {
	t.Helper()
	t.Skip("crash: processes are traced on Linux only")
}

func watchChanges() error { return errors.ErrUnsupported }
