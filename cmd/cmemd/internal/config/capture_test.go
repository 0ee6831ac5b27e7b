package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cmemd/cmemd/internal/capture/privacy"
)

// TestHooksReadTheSameSwitches: what hooks read of the settings, without a parser of TOML, is what the daemon reads.
func TestHooksReadTheSameSwitches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file string
		env  []string
	}{
		{file: ""}, {file: `capture_skip_tools = ["Bash"]`}, {file: "capture_skip_tools = [\"Bash\", 'Web Search',\n  # and\n  \"mcp__a__*\", # more\n]\nslots = 3\n"},
		{file: "slots = 3\ncapture_skip_agents=['codex']\r\ncapture_ignore = [\"/a\\\\b/\", \"~/x/**\", '\\d', \"\\u00e9\"]\n"},
		{file: "capture_skip_tools = []\n"}, {file: "capture_skip_tools = [\n]\ncapture_ignore = ['a']"},
		{file: "\"capture_ignore\" = ['quoted']\n"}, {file: "# capture_ignore = ['a']\n  capture_ignore   =   ['b']"},
		{file: "playback_file = \"/x # capture_ignore = ['no']\"\n"}, {file: `capture_ignore = ["a # b"]`}, {file: `capture_ignore = ["a ] b", 'c " d']`},
		{file: `capture_skip_tools = ["Bash"]`, env: []string{"CMEMD_CAPTURE_SKIP_TOOLS=Read, Write"}}, {env: []string{"CMEMD_CAPTURE_IGNORE=/a/*.b"}},
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, FileName), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Load(home, c.env)
		if err != nil {
			t.Errorf("%q: %v", c.file, err)
			continue
		}
		got := privacy.ReadSwitches(home, func(name string) string {
			for _, kv := range c.env {
				if v, ok := strings.CutPrefix(kv, name+"="); ok {
					return v
				}
			}
			return ""
		})
		if diff := cmp.Diff(l.Switches, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q, %v (-daemon +hook):\n%s", c.file, c.env, diff)
		}
	}
}
