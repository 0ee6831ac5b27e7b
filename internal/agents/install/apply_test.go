package install

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRefused: what cannot be changed safely is not changed at all.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent, file, text string
		mode              os.FileMode
		want              error
		says              string
	}{
		"malformed":           {"claude-code", ".claude/settings.json", "{\"a\": 1,\n \"b\" 2}", 0o644, nil, "settings.json line 2 is not JSON: invalid character '2' after object key"},
		"cut off":             {"codex", ".codex/hooks.json", `{"hooks": {"Stop": [`, 0o644, nil, "is not JSON"},
		"a list":              {"cursor", ".cursor/hooks.json", "[]", 0o644, nil, "hooks.json has another shape: it is no object"},
		"hooks are a list":    {"gemini-cli", ".gemini/settings.json", `{"hooks": []}`, 0o644, nil, "hooks has another shape"},
		"an event is none":    {"cursor", ".cursor/hooks.json", `{"version": 1, "hooks": {"stop": {}}}`, 0o644, nil, "hooks.stop has another shape"},
		"hooks twice":         {"claude-code", ".claude/settings.json", `{"hooks": {}, "hooks": {}}`, 0o644, nil, "stands there twice"},
		"read-only":           {"claude-code", ".claude/settings.json", "{}", 0o444, ErrReadOnly, "is read-only"},
		"another cmemd":       {"windsurf", ".codeium/windsurf/mcp_config.json", `{"mcpServers": {"cmemd": {"command": "npx"}}}`, 0o644, ErrForeign, "mcp_config.json has something else by the name cmemd, to be renamed or removed first: mcpServers.cmemd"},
		"bad TOML":            {"codex", ".codex/config.toml", "model = \n", 0o644, nil, "is not TOML"},
		"TOML, inline":        {"codex", ".codex/config.toml", "mcp_servers = {x = {command = \"y\"}}\n", 0o644, nil, "would not do"},
		"TOML, another cmemd": {"codex", ".codex/config.toml", "[mcp_servers.cmemd]\ncommand = \"npx\"\n", 0o644, ErrForeign, "config.toml has something else by the name cmemd, to be renamed or removed first: mcp_servers.cmemd"},
		"too large":           {"zed", ".config/zed/settings.json", strings.Repeat(" ", MaxFile+1), 0o644, ErrTooLarge, "32 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(c.file, c.text, c.mode)
			before := w.snapshot()
			_, err := w.agent(c.agent).Install(w.machine, w.options, w.store)
			var file *FileError
			if !errors.As(err, &file) || file.Path != w.path(c.file) || !strings.Contains(err.Error(), c.says) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v: %s", err, c.want, c.says)
			}
			if diff := cmp.Diff(before, w.snapshot()); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("dotfiles/claude.json", "{\n  \"a\": 1\n}\n", 0o600)
	w.write(".claude/x", "", 0o600)
	link := w.path(".claude/settings.json")
	if err := os.Symlink("../dotfiles/claude.json", link); err != nil {
		t.Skip(err)
	}
	before := w.snapshot()
	w.install("claude-code")
	if to, err := os.Readlink(link); err != nil || to != "../dotfiles/claude.json" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if !strings.Contains(w.text("dotfiles/claude.json"), "cmemd-hook") {
		t.Error("the file behind the link was not changed")
	}
	w.uninstall("claude-code")
	if diff := cmp.Diff(before, w.snapshot()); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
	if err := os.Remove(w.path("dotfiles/claude.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.agent("claude-code").Install(w.machine, w.options, w.store); !errors.Is(err, ErrNotFile) {
		t.Errorf("a link to nothing: got %v", err)
	}
	if err := os.Symlink("claude.json", w.path("dotfiles/claude.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.agent("claude-code").Install(w.machine, w.options, w.store); err == nil || !strings.Contains(err.Error(), link) {
		t.Errorf("a link that leads to itself: got %v, want %s named", err, link)
	}
}

// TestHardLinks: a file with two names is refused, by installing and by removing, and keeps them; the two ways that the error
// names lead on.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("names are not counted")
	}
	const settings, copied = ".gemini/settings.json", "dotfiles/gemini.json"
	for name, ways := range map[string]func(w *world) error{
		"a symbolic link": func(w *world) error {
			return errors.Join(os.Remove(w.path(settings)), os.Symlink(w.path(copied), w.path(settings)))
		},
		"a copy": func(w *world) error {
			return errors.Join(os.WriteFile(w.path("new"), []byte(w.text(settings)), 0o600), os.Rename(w.path("new"), w.path(settings)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(copied, "{}", 0o600)
			w.write(".gemini/x", "", 0o600)
			if err := os.Link(w.path(copied), w.path(settings)); err != nil {
				t.Skip(err)
			}
			_, err := w.agent("gemini-cli").Install(w.machine, w.options, w.store)
			if !errors.Is(err, ErrNames) || !strings.Contains(err.Error(), w.path(settings)) || w.text(copied) != "{}" {
				t.Errorf("got %v", err)
			}
			if err := ways(w); err != nil {
				t.Fatal(err)
			}
			w.install("gemini-cli")
			if got := strings.Contains(w.text(copied), "cmemd"); got != (name == "a symbolic link") {
				t.Errorf("the other name has it: %v", got)
			}
			if err := os.Link(w.path(copied), w.path("third")); err != nil {
				t.Fatal(err)
			}
			_, err = w.agent("gemini-cli").Uninstall(w.machine, w.options, w.store)
			if errors.Is(err, ErrNames) != (name == "a symbolic link") {
				t.Errorf("removing: got %v", err)
			}
		})
	}
}

// TestHardLinkedPluginFiles: the client's commands would cut off a name too, and are not run.
func TestHardLinkedPluginFiles(t *testing.T) {
	t.Parallel()
	w, c := newClient(t)
	w.write(".claude/settings.json", "{}", 0o600)
	if err := os.Link(w.path(".claude/settings.json"), w.path("dotfile")); err != nil || runtime.GOOS == "windows" {
		t.Skip(err)
	}
	if _, err := w.agent(claudeName).Install(w.machine, w.options, w.store); !errors.Is(err, ErrNames) {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(w.path("dotfile")); err != nil || !c.install() {
		t.Errorf("once it has one name: %v", err)
	}
}

// TestChangedBetween: a plan is not carried out on another file than it was made for.
func TestChangedBetween(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(".cursor/hooks.json", "{}", 0o644)
	p := w.plan("cursor")
	w.write(".cursor/hooks.json", "{ }", 0o644)
	before := w.snapshot()
	if err := w.store.Apply(t.Context(), p, w.run, time.Unix(1, 0)); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, w.snapshot()); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
	w.checkNothingKept()
}

// TestPutBack: if the second file cannot be written, the first is as it was.
func TestPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(".cursor/hooks.json", "{\"a\": 1}", 0o640)
	p := w.plan("cursor")
	if err := os.Mkdir(w.path(".cursor/mcp.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Changes[1].Path = w.path(".cursor/hooks.json/mcp.json") // a folder that is a file
	before := w.snapshot()
	err := writeAll(p.Changes, nil)
	if err == nil {
		t.Fatal("it was written")
	}
	if diff := cmp.Diff(before, w.snapshot()); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

// TestKilledInBetween: an installation that ended anywhere is finished by the next one, or taken back.
func TestKilledInBetween(t *testing.T) {
	t.Parallel()
	for written := range 3 {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d files, again %v", written, again), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write(".codex/hooks.json", "{ }", 0o640)
				w.write(".codex/config.toml", "model = \"o\"", 0o600)
				before := w.snapshot()
				p := w.plan("codex")
				for _, text := range p.keep {
					if err := w.store.keep(text); err != nil {
						t.Fatal(err)
					}
				}
				r := *p.record
				r.State = stateApplying
				if err := w.store.save(&r); err != nil {
					t.Fatal(err)
				}
				if err := writeAll(p.Changes[:written], &r); err != nil {
					t.Fatal(err)
				}
				if again {
					w.install("codex")
					if !w.plan("codex").Nothing() {
						t.Error("it is not whole")
					}
				}
				w.uninstall("codex")
				if diff := cmp.Diff(before, w.snapshot()); diff != "" {
					t.Errorf("-before +after:\n%s", diff)
				}
			})
		}
	}
}

func TestNewerRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install("zed")
	r := w.record("zed")
	r.Format = recordFormat + 1
	if err := w.store.save(r); err != nil {
		t.Fatal(err)
	}
	if _, err := w.agent("zed").Uninstall(w.machine, w.options, w.store); !errors.Is(err, ErrNewerRecord) {
		t.Errorf("got %v", err)
	}
}
