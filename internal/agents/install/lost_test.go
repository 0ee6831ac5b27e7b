package install

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// damages are what can happen to what is known of an installation.
func damages() map[string]func(w *world, agent string) error {
	truncate := func(text string) func(*world, string) error {
		return func(w *world, agent string) error {
			return os.WriteFile(w.store.recordPath(agent), []byte(text), 0o600)
		}
	}
	return map[string]func(w *world, agent string) error{
		"an empty record": truncate(""), "half a record": truncate(`{"format": 1, "agent": "`), "a record of nothing": truncate("null"),
		"another's record": truncate(`{"format": 1, "agent": "nobody"}`),
		"no backups":       func(w *world, _ string) error { return os.RemoveAll(w.store.backupPath("")) },
		"other backups": func(w *world, agent string) error {
			all, err := filepath.Glob(w.store.backupPath("*"))
			for _, path := range all {
				err = errors.Join(err, os.WriteFile(path, []byte("x"), 0o600))
			}
			return err
		},
	}
}

// TestRemovedWithoutKnowledge: where what was there before is lost, exactly cmemd's entries go, and a note says so. An
// installation in between, of the same or of another cmemd, does no harm.
func TestRemovedWithoutKnowledge(t *testing.T) {
	t.Parallel()
	for damage, do := range damages() {
		for between, install := range map[string]func(w *world, agent string){
			"removed":            func(*world, string) {},
			"installed, removed": func(w *world, agent string) { w.install(agent) },
			"a newer one between": func(w *world, agent string) {
				w.options.Program.Hook = []string{"/usr/bin/cmemd", "hook"}
				w.install(agent)
			},
		} {
			for agent, file := range settingsOf() {
				t.Run(damage+"/"+between+"/"+agent, func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.write(file, "{\n  \"model\": \"opus\"\n}\n", 0o640)
					w.install(agent)
					if err := do(w, agent); err != nil {
						t.Fatal(err)
					}
					install(w, agent)
					p := w.planRemoval(agent)
					if between == "removed" && (len(p.Notes) == 0 || !strings.Contains(p.Notes[0], "before cmemd came")) {
						t.Errorf("notes: %q", p.Notes)
					}
					w.apply(p)
					left := w.parsed(file)
					delete(left, "version") // Cursor's, which may be the person's
					if diff := cmp.Diff(map[string]any{"model": "opus"}, left); diff != "" {
						t.Errorf("-want +got:\n%s", diff)
					}
					for name, text := range w.snapshot() {
						if strings.Contains(text, "cmemd") {
							t.Errorf("%s still names it:\n%s", name, text)
						}
					}
					w.checkNothingKept()
					if p := w.planRemoval(agent); !p.Nothing() {
						t.Errorf("a second removal would change %+v", p.Changes)
					}
				})
			}
		}
	}
}

func (w *world) parsed(name string) (value map[string]any) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.text(name)), &value); err != nil {
		w.t.Fatal(err)
	}
	return value
}

// TestPluginRemovedWithoutKnowledge: the same of Claude Code's plugin, which its own commands take out.
func TestPluginRemovedWithoutKnowledge(t *testing.T) {
	t.Parallel()
	for damage, do := range damages() {
		for between, install := range map[string]func(c *client) bool{
			"removed":             func(*client) bool { return true },
			"installed, removed":  (*client).install,
			"a newer one between": func(c *client) bool { c.upgrade(); return c.install() },
		} {
			t.Run(damage+"/"+between, func(t *testing.T) {
				t.Parallel()
				w, c := newClient(t)
				w.write(".claude/settings.json", "{\n  \"cleanupPeriodDays\": 30\n}\n", 0o644)
				c.install()
				if err := do(w, claudeName); err != nil {
					t.Fatal(err)
				}
				if !install(c) || !c.uninstall() {
					t.Fatal("it failed")
				}
				if diff := cmp.Diff(map[string]any{"cleanupPeriodDays": 30.0}, w.parsed(".claude/settings.json")); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if s, err := claude(t).readPluginState(w.machine); s != (pluginState{}) || err != nil {
					t.Errorf("the client still knows %+v, %v", s, err)
				}
				w.checkNothingKept()
			})
		}
	}
}

// TestDamagedRecordIsMended: an installation writes anew what is known, also where the entries are as they should be.
func TestDamagedRecordIsMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install("zed")
	if err := os.WriteFile(w.store.recordPath("zed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Load("zed"); !errors.Is(err, ErrDamagedRecord) || !strings.Contains(err.Error(), w.store.recordPath("zed")) {
		t.Errorf("got %v", err)
	}
	if p := w.plan("zed"); p.Nothing() || len(p.Changes) != 0 {
		t.Errorf("it would change %+v", p.Changes)
	}
	w.install("zed")
	if r := w.record("zed"); r.State != stateApplied || !w.plan("zed").Nothing() {
		t.Errorf("got %+v", r)
	}
}

// TestOthersRemovedBesideDamage: a record that cannot be read, damaged or newer, keeps no other agent's removal from being whole; no
// backup goes then, for it may name any.
func TestOthersRemovedBesideDamage(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"damaged": "", "newer": `{"format": 99, "agent": "zed"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(".config/zed/settings.json", "{\n}", 0o600)
			w.write(".cursor/hooks.json", "{ }", 0o640)
			w.install("zed")
			kept := w.store.backupPath(w.record("zed").Files[0].Before)
			w.install("cursor")
			if err := os.WriteFile(w.store.recordPath("zed"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			w.uninstall("cursor")
			if got := w.text(".cursor/hooks.json"); got != "{ }" {
				t.Errorf("left is %q", got)
			}
			if _, err := os.Stat(kept); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(w.store.recordPath("cursor")); err == nil {
				t.Error("its record is still there")
			}
		})
	}
}
