package claudecli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  Config
		want error
	}{
		"no folder":         {Config{}, ErrDir},
		"a relative folder": {Config{Dir: "runs"}, ErrDir},
		"a flag":            {Config{Dir: t.TempDir(), Model: "--dangerously-skip-permissions"}, ErrModel},
		"a space":           {Config{Dir: t.TempDir(), Model: "a b"}, ErrModel},
		"a line":            {Config{Dir: t.TempDir(), Model: "a\nb"}, ErrModel},
		"good":              {Config{Dir: t.TempDir(), Model: "us.anthropic.claude-haiku-4-5-v1:0"}, nil},
	} {
		if _, err := New(c.cfg); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	c, err := New(Config{Dir: t.TempDir()})
	if err != nil || c.Model() != defaultModel || c.grace != defaultGrace || c.env != nil {
		t.Errorf("the zero value: %+v, %v", c, err)
	}
}

// TestChildEnv: a child has what it is given and what makes it quiet, which nothing that is given undoes.
func TestChildEnv(t *testing.T) {
	t.Setenv("OF_THIS_PROCESS", "x")
	kept := []string{"HOME=/h", "PATH=/bin", "ANTHROPIC_API_KEY=k", "CMEMD_OBSERVER=0", "MAX_THINKING_TOKENS=9", "TMPDIR=/t"}
	added := []string{
		"CMEMD_OBSERVER=RUN", "TMPDIR=/tmp/of/runs", "TEMP=/tmp/of/runs", "TMP=/tmp/of/runs", "MAX_THINKING_TOKENS=0", "CLAUDE_CODE_EFFORT_LEVEL=low",
		"CLAUDE_CODE_MAX_RETRIES=2", "API_TIMEOUT_MS=120000",
		"CLAUDE_CODE_DISABLE_ATTACHMENTS=1", "CLAUDE_CODE_DISABLE_FILE_MENTIONS=1",
		"CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK=1", "CLAUDE_CODE_DISABLE_REFUSAL_RETRY=1",
		"CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_OUTPUT_TOKENS=4096",
	}
	got := childEnv(append(slices.Clone(kept), "ANTHROPIC_LOG=debug"), "RUN", "/tmp/of/runs", 4096)
	if diff := cmp.Diff(slices.Concat(kept, added), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := childEnv(nil, "RUN", "/tmp/of/runs", 0); slices.ContainsFunc(got, func(kv string) bool { return strings.Contains(kv, "MAX_OUTPUT") }) {
		t.Errorf("no bound was asked for: %q", got)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	home, bin := t.TempDir(), t.TempDir()
	find := func(cfg Config) (string, error) {
		cfg.Dir = t.TempDir()
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return c.find()
	}
	env := []string{"PATH=relative" + string(os.PathListSeparator) + bin, "HOME=" + home}
	isSetup := func(name string, err error) {
		t.Helper()
		failure, ok := errors.AsType[*observer.Failure](err)
		if !ok || failure.Class != events.FailSetup || !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: got %v, want a failure of the class setup", name, err)
		}
	}
	_, err := find(Config{Env: env})
	isSetup("nowhere", err)
	_, err = find(Config{Env: env, Path: filepath.Join(bin, "none")})
	isSetup("a path with nothing", err)
	for _, dir := range []string{filepath.Join(home, ".claude", "local"), filepath.Join(home, ".local", "bin"), bin} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		want := filepath.Join(dir, executable("claude"))
		if err := os.WriteFile(want, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := find(Config{Env: env}); !strings.EqualFold(got, want) || err != nil {
			t.Errorf("found %q, %v; want %q", got, err, want)
		}
	}
}

func executable(name string) string {
	if filepath.Separator == '\\' {
		return name + ".exe"
	}
	return name
}

func TestSystemFile(t *testing.T) {
	t.Parallel()
	c, err := New(Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.systemFile("be brief")
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.systemFile("be long")
	if err != nil || other == first {
		t.Errorf("two prompts in one file: %s, %v", other, err)
	}
	if err := os.WriteFile(first, []byte("planted"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := c.systemFile("be brief")
	if b, _ := os.ReadFile(again); again != first || err != nil || string(b) != "be brief" {
		t.Errorf("%s holds %q, %v", again, b, err)
	}
	if info, err := os.Stat(first); err != nil || filepath.Separator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestIsVersion(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"2.1.329": true, "2.0": true, "3.0.0-beta.1": true, "1.2.3+build": true,
		"": false, "2": false, "v2.1": false, "2..1": false, "2.1.x": false, "hello": false, strings.Repeat("1.", 40) + "1": false,
	} {
		if isVersion(s) != want {
			t.Errorf("%q: got %v", s, !want)
		}
	}
}
