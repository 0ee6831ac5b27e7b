//go:build linux || darwin

package homedir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/owned"
)

// TestMakeInAnothersFolder: no folder of a home is made in one that belongs to another user, or in which anybody may write, and what is
// said to do about it fits.
func TestMakeInAnothersFolder(t *testing.T) {
	t.Parallel()
	give := func(dir string) error { return os.Chown(dir, 12345, 0) }
	for name, c := range map[string]struct {
		spoil func(string) error
		home  string
		step  string
	}{
		"open":                       {func(dir string) error { return os.Chmod(dir, 0o777) }, ".local/share/cmemd", "chmod go-w"},
		"another's":                  {give, ".local/share/cmemd", "without sudo"},
		"another's, the home itself": {give, "", "without sudo"},
		"another's and its group's":  {func(dir string) error { return errors.Join(give(dir), os.Chmod(dir, 0o775)) }, "", "without sudo"},
	} {
		dir := t.TempDir()
		if strings.HasPrefix(name, "another's") && os.Getuid() != 0 {
			continue
		}
		if err := c.spoil(dir); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = PathsOf(filepath.Join(dir, c.home)).Make()
		if !errors.Is(err, owned.ErrOthers) || !strings.Contains(terminal.NextStep(err), c.step) {
			t.Errorf("%s: got %v, next %q; want %v, %q", name, err, terminal.NextStep(err), owned.ErrOthers, c.step)
		}
		if made, err := os.ReadDir(dir); len(made) > 0 || err != nil {
			t.Errorf("%s: it made %v, %v", name, made, err)
		}
		if after, err := os.Stat(dir); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s: its rights are %v, were %v, %v", name, after.Mode(), before.Mode(), err)
		}
	}
}
