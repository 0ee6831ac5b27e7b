package known

import (
	"path/filepath"
	"testing"
)

func TestFolders(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	set := func(name string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": "/e/claude", "XDG_CONFIG_HOME": "/e/xdg", "APPDATA": "/e/app", "CODEX_HOME": "relative"}[name]
	}
	for _, c := range []struct {
		agent, goos string
		getenv      func(string) string
		want        string
	}{
		{"claude-code", "linux", none, "/home/me/.claude"},
		{"claude-code", "linux", set, "/e/claude"},
		{"codex", "linux", set, "/home/me/.codex"},
		{"windsurf", "windows", set, "/home/me/.codeium/windsurf"},
		{"opencode", "darwin", set, "/e/xdg/opencode"},
		{"vscode", "linux", none, "/home/me/.config/Code/User"},
		{"vscode", "linux", set, "/e/xdg/Code/User"},
		{"vscode", "darwin", set, "/home/me/Library/Application Support/Code/User"},
		{"vscode", "windows", set, "/e/app/Code/User"},
		{"vscode", "windows", none, "/home/me/AppData/Roaming/Code/User"},
		{"zed", "darwin", none, "/home/me/.config/zed"},
		{"zed", "windows", set, "/e/app/Zed"},
	} {
		a, ok := ByName(c.agent)
		if got := a.Folder.Path(c.goos, "/home/me", c.getenv); !ok || got != filepath.FromSlash(c.want) {
			t.Errorf("%s on %s: got %q, want %q", c.agent, c.goos, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	if _, ok := ByName("claude"); ok {
		t.Error("an alias is a name")
	}
	for alias, want := range map[string]string{"claude": "claude-code", "antigravity": "gemini-cli", "codex": "codex", "nobody": "", "": ""} {
		if a, ok := ByAlias(alias); a.Name != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", alias, a.Name, ok, want)
		}
	}
	seen := map[string]bool{}
	for _, a := range All() {
		if seen[a.Name] || a.Name == "" {
			t.Errorf("%q stands there twice, or is no name", a.Name)
		}
		seen[a.Name] = true
	}
}
