package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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
		if got := firstNotRunnable(install.Program{Hook: []string{c.hook}, Cmemd: c.cmemd}); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

// TestCheckOff: a switch that cannot be read hides no other.
func TestCheckOff(t *testing.T) {
	t.Parallel()
	agent, _ := install.ByName("gemini-cli")
	for text, off := range map[string]bool{
		`{"hooksConfig": {"enabled": {"a": 1, "a": 2}, "disabled": ["cmemd"]}}`: true,
		`{"hooksConfig": {"enabled": {"a": 1, "a": 2}, "disabled": []}}`:        false,
		`{"hooksConfig": {"enabled": false}}`:                                   true,
		`{"hooksConfig": {"enabled": true}}`:                                    false,
		`{}`:                                                                    false,
	} {
		in := &installation{machine: install.Machine{OS: runtime.GOOS, Home: t.TempDir(), Getenv: func(string) string { return "" }}}
		path := agent.HookFile(in.machine)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := in.checkOff(agent); (err != nil) != off {
			t.Errorf("%s: %v", text, err)
		}
	}
}
