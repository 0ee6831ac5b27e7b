package daemon

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRemoveSocketSparesFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cmemd.sock")
	if err := removeSocket(path); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeSocket(path); err == nil {
		t.Error("a file that is no socket was removed")
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Errorf("the file holds %q", b)
	}
}
