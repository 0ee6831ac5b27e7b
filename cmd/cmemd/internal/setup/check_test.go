package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/internal/agents/install"
)

// TestNotRunnable: a program that is gone, that is a folder or may not be run is none.
func TestNotRunnable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, plain, gone := filepath.Join(dir, "good"), filepath.Join(dir, "plain"), filepath.Join(dir, "gone")
	for path, mode := range map[string]fs.FileMode{good: 0o700, plain: 0o600} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ hook, cmemd, want string }{
		{good, good, ""}, {gone, good, gone}, {good, gone, gone}, {dir, good, dir}, {plain, good, plain},
	} {
		if c.hook == plain && os.PathSeparator != '/' {
			continue
		}
		if got := notRunnable(install.Program{Hook: []string{c.hook}, Cmemd: c.cmemd}); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}
