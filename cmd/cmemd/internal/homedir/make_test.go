package homedir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// TestMakeBelowAFile: a home that cannot be is not said to be another user's.
func TestMakeBelowAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := PathsOf(filepath.Join(file, "home")).Make(); err == nil || terminal.NextStep(err) != nameWritable {
		t.Errorf("got %v, next %q", err, terminal.NextStep(err))
	}
}
