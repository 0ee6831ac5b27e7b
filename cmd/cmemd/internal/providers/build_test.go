package providers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/internal/setting"
)

// TestEveryProviderIsBuilt makes each of them by its name, all from the same settings.
func TestEveryProviderIsBuilt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	script := filepath.Join(home, "s.jsonl")
	if err := os.WriteFile(script, []byte("{\"text\":\"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.LoadWithVariables(home, []string{
		"CMEMD_ANTHROPIC_MODEL=a", "CMEMD_OPENAI_MODEL=o", "CMEMD_GEMINI_MODEL=g", "CMEMD_PLAYBACK_FILE=" + script, "CMEMD_MODE=research",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range setting.ProviderNames() {
		p, err := Builder{Settings: l, Runs: filepath.Join(home, "run")}.build(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		mode := "research"
		if name == "extractive" {
			mode = "code"
		}
		if p.Name() != name || p.Model() == "" || p.Mode.ID != mode {
			t.Errorf("%s: got %s, model %q, mode %s, want mode %s", name, p.Name(), p.Model(), p.Mode.ID, mode)
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Builder{Settings: l}).build("nobody"); err == nil || !strings.Contains(err.Error(), "there are extractive, ") {
		t.Errorf("nobody: got %v", err)
	}
}
