package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
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

// TestDiffers: nobody is advised to write what an older cmemd puts there without hearing that a newer one was at work.
func TestDiffers(t *testing.T) {
	t.Parallel()
	p := install.Plan{Changes: []install.Change{{Path: "hooks.json"}}}
	for _, c := range []struct{ mine, theirs, says, next string }{
		{"1.2.0", "1.3.0", "the newer cmemd 1.3.0 wrote it", "`cmemd upgrade`, or run that one; `cmemd install codex` goes back to what this one puts there"},
		{"1.2.0", "1.1.0", "(`cmemd install codex --dry-run` shows how)", "`cmemd install codex`"},
		{"dev", "1.3.0", "(`cmemd install codex --dry-run` shows how)", "`cmemd install codex`"},
	} {
		err := differs(p, c.mine, c.theirs, "cmemd install codex")
		if err == nil || !strings.Contains(err.Error(), c.says) || terminal.NextStep(err) != c.next {
			t.Errorf("%+v: got %v, next %q", c, err, terminal.NextStep(err))
		}
	}
	if err := differs(install.Plan{}, "1.2.0", "1.3.0", "cmemd install codex"); err != nil {
		t.Errorf("what does not differ: %v", err)
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
