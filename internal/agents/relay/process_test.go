package relay

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestFromEnv(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for name, c := range map[string]struct {
		env       string
		ok, start bool
	}{
		"plain":                {"", true, true},
		"the observer's child": {"CMEMD_OBSERVER=1", false, false},
		"switched off":         {"CMEMD_DISABLE=true", false, false},
		"zero is off":          {"CMEMD_OBSERVER=0", true, true},
		"starts nothing":       {"CMEMD_NO_START=1", true, false},
	} {
		cfg, ok := FromEnv("codex", "1", func(key string) string {
			k, v, _ := strings.Cut(c.env, "=")
			if key == "CMEMD_HOME" {
				return home
			}
			if key == k {
				return v
			}
			return ""
		})
		if ok != c.ok || (cfg.Start != nil) != c.start || (ok && (cfg.Home != home || cfg.Agent != "codex" || cfg.Version != "1")) {
			t.Errorf("%s: FromEnv = %+v, %v; want %v, starting %v", name, cfg, ok, c.ok, c.start)
		}
	}
}

// TestStandardLibraryOnly: agents wait for this code to start at every tool call.
func TestStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command here")
	}
	const ours = "github.com/cmemd/cmemd/"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.Standard}} {{.ImportPath}}", ours+"internal/agents/relay", ours+"cmd/cmemd-hook").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	allowed := map[string]bool{ours + "internal/agents/known": true, ours + "internal/agents/relay": true, ours + "internal/ignore": true, ours + "cmd/cmemd-hook": true, ours + "internal/durable": true, ours + "internal/owned": true, ours + "internal/privatetext": true, ours + "internal/seal": true, ours + "internal/jsonscan": true, ours + "internal/toolinput": true}
	slow := map[string]bool{"net": runtime.GOOS != "windows", "net/http": true, "encoding/json": true, "crypto/rand": true, "crypto/tls": true, "regexp": true, "log/slog": true, "text/template": true}
	lines := strings.Fields(string(out))
	if len(lines) < 40 {
		t.Fatalf("go list names only %d fields", len(lines))
	}
	for i := 0; i < len(lines); i += 2 {
		if lines[i] != "true" && !allowed[lines[i+1]] {
			t.Errorf("%s is not of the standard library", lines[i+1])
		}
		if slow[lines[i+1]] {
			t.Errorf("%s is linked: it costs every hook its start", lines[i+1])
		}
	}
}
