//go:build unix

package erasure

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestStateThatIsAPipe is not waited for.
func TestStateThatIsAPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "forget.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if all := Awaited(path); all != nil {
		t.Errorf("awaited %v", all)
	}
	if err := Rescan(path); err != nil {
		t.Error(err)
	}
}
