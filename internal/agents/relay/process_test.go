package relay

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFromEnv(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := errors.Join(os.MkdirAll(ObserverRuns(home), 0o700), os.WriteFile(filepath.Join(ObserverRuns(home), "RUN2.run"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env             string
		ok, start, only bool
	}{
		"plain":                    {"", true, true, false},
		"the observer's child":     {"CMEMD_OBSERVER=RUN2", false, false, false},
		"no run of the observer's": {"CMEMD_OBSERVER=1", true, true, true},
		"a path in its place":      {"CMEMD_OBSERVER=../claude-cli/RUN2", true, true, true},
		"switched off":             {"CMEMD_DISABLE=true", true, true, true},
		"zero is off":              {"CMEMD_OBSERVER=0", true, true, false},
		"starts one all the same":  {"CMEMD_NO_START=1", true, true, false},
		"another home":             {"CMEMD_HOME=/elsewhere", true, true, false},
		"another data folder":      {"XDG_DATA_HOME=/elsewhere", true, true, false},
	} {
		cfg, ok := FromEnv(Call{Agent: "codex", Home: home}, "1", func(key string) string {
			k, v, _ := strings.Cut(c.env, "=")
			if key == k {
				return v
			}
			return ""
		})
		if ok != c.ok || (cfg.Start != nil) != c.start || cfg.Disabled != c.only || (ok && (cfg.Home != home || cfg.Agent != "codex" || cfg.Version != "1")) {
			t.Errorf("%s: FromEnv = %+v, %v; want %v, starting %v", name, cfg, ok, c.ok, c.start)
		}
	}
}

func TestReadCall(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Call{
		"codex": {Agent: "codex"}, "--home /h codex": {Agent: "codex", Home: "/h"},
		"": {}, "--home": {}, "--home codex": {}, "--version": {}, "codex --home /h": {}, "--home /h --x": {}, "a b": {},
	} {
		if got, ok := ReadCall(strings.Fields(line)); got != want || ok != (want.Agent != "") {
			t.Errorf("%q: got %+v, %v", line, got, ok)
		}
	}
}

// TestHomeWithoutACall: hooks that were installed without a home find it as commands do.
func TestHomeWithoutACall(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for noStart, starts := range map[string]bool{"": true, "0": true, "1": false} {
		env := map[string]string{"CMEMD_HOME": home, "CMEMD_NO_START": noStart}
		cfg, ok := FromEnv(Call{Agent: "codex"}, "1", func(key string) string { return env[key] })
		if !ok || cfg.Home != home || (cfg.Start != nil) != starts {
			t.Errorf("%q: got %+v, %v", noStart, cfg, ok)
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
	slow := map[string]bool{"net": runtime.GOOS != "windows", "net/http": true, "encoding/json": true, "crypto/rand": true, "crypto/tls": true, "regexp": true, "log/slog": true, "text/template": true}
	lines := strings.Fields(string(out))
	if len(lines) < 40 {
		t.Fatalf("go list names only %d fields", len(lines))
	}
	for i := 0; i < len(lines); i += 2 {
		if lines[i] != "true" && !strings.HasPrefix(lines[i+1], ours) {
			t.Errorf("%s is neither of the standard library nor ours", lines[i+1])
		}
		if slow[lines[i+1]] {
			t.Errorf("%s is linked: it costs every hook its start", lines[i+1])
		}
	}
}
