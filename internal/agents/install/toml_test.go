package install

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pelletier/go-toml/v2"

	"github.com/cmemd/cmemd/internal/agents/known"
)

// TestTOML: Codex's settings get a table at their end, and lose it again.
func TestTOML(t *testing.T) {
	t.Parallel()
	const table = "[mcp_servers.cmemd]\ncommand = '/opt/cmemd/cmemd'\nargs = ['mcp']\n"
	for name, c := range map[string]struct{ before, after string }{
		"empty":        {"", table},
		"settings":     {"model = \"o\" # best\n", "model = \"o\" # best\n\n" + table},
		"no line end":  {"[x]\ny = 1", "[x]\ny = 1\n\n" + table},
		"CRLF":         {"x = 1\r\n", "x = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n")},
		"others":       {"[mcp_servers.a]\ncommand = \"b\"\n\n[profiles.x]\ny = 1\n", "[mcp_servers.a]\ncommand = \"b\"\n\n[profiles.x]\ny = 1\n\n" + table},
		"an older one": {"[mcp_servers.cmemd]\ncommand = \"cmemd\"\nargs = [\"mcp\"]\n\n[mcp_servers.cmemd.env]\nA = \"b\"\n\n# mine\n[x]\ny = 1\n", "\n# mine\n[x]\ny = 1\n\n" + table},
		"a dotted one": {"[mcp_servers]\na.command = \"b\"\n", "[mcp_servers]\na.command = \"b\"\n\n" + table},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(".codex/config.toml", c.before, 0o600)
			w.install("codex")
			if diff := cmp.Diff(strings.ReplaceAll(c.after, "'", `"`), strings.ReplaceAll(w.text(".codex/config.toml"), "'", `"`)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !w.plan("codex").Nothing() {
				t.Error("it is not done")
			}
			w.write(".codex/config.toml", w.text(".codex/config.toml")+"\n[since]\nz = 1\n", 0o600)
			w.uninstall("codex")
			got := w.text(".codex/config.toml")
			if strings.Contains(got, "/opt/cmemd") || !strings.HasSuffix(got, "[since]\nz = 1\n") {
				t.Errorf("left is:\n%s", got)
			}
		})
	}
}

// TestTOMLLastLine: the last line of a person's settings has the end that it had, whatever they changed before it.
func TestTOMLLastLine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"[x]\ny = 1", "a = 1\r\n[x]\r\ny = 1", "[x]\ny = 1\n", "[x]\ny = 1\n\n\n", "y = 1 # one"} {
		w := newWorld(t)
		w.write(".codex/config.toml", text, 0o600)
		w.install("codex")
		w.write(".codex/config.toml", strings.Replace(w.text(".codex/config.toml"), "y = 1", "y = 2", 1), 0o600)
		w.uninstall("codex")
		if got, want := w.text(".codex/config.toml"), strings.Replace(text, "y = 1", "y = 2", 1); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzTOML: a table is put behind any settings, found again, and taken out so that they say what they said.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{
		"", "a = 1\n", "[mcp_servers.x]\ncommand = \"y\"", "\ufeffa = 1\r\n", "x = [\n1, # c\n]\n[[y]]\nz = '''\n[mcp_servers.cmemd]\n'''\n",
	} {
		f.Add([]byte(seed))
	}
	edit := tomlEditor{
		below: "mcp_servers",
		value: Options{Program: Program{Cmemd: "/opt/cmemd", Home: "/a \"b\""}}.fill("", "", known.StandardServer()),
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var before, after map[string]any
		if toml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &before) != nil {
			return
		}
		if server, err := edit.server(text); err != nil || server != nil {
			return
		}
		with, err := edit.put(text)
		if err != nil {
			return // refused: another table would not do there
		}
		if again, err := edit.put(with); err != nil || !bytes.Equal(again, with) {
			t.Fatalf("%q: a second time %q, %v", with, again, err)
		}
		if back, err := edit.strip(with, text); err != nil || !bytes.Equal(back, text) {
			t.Fatalf("%q came back as %q, %v", text, back, err)
		}
		without, err := edit.strip(with, nil)
		if err != nil {
			t.Fatalf("%q: %v", with, err)
		}
		if err := toml.Unmarshal(bytes.TrimPrefix(without, []byte("\ufeff")), &after); err != nil {
			t.Fatalf("%q: %v", without, err)
		}
		if diff := cmp.Diff(before, after, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" || !bytes.HasPrefix(without, text) {
			t.Fatalf("%q became %q\n%s", text, without, diff)
		}
	})
}
