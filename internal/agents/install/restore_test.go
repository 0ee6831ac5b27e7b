package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// errKilled is what a client panics with that takes cmemd's own process with it.
var errKilled = errors.New("killed")

// client edits Claude Code's files as its commands do: whole, in its own formatting, and empty objects stay.
type client struct {
	w     *world
	kills int // how many commands are done when the process ends; below 0: it does not
	fails string
	notes bool // it writes down something of its own whenever it writes settings
}

func newClient(t *testing.T) (*world, *client) {
	w := newWorld(t)
	w.options.Settings = false
	w.machine.LookPath = func(name string) (string, error) { return "/bin/" + name, nil }
	return w, &client{w: w, kills: -1}
}

func (c *client) run(_ context.Context, command Command) error {
	c.w.t.Helper()
	line := strings.Join(command.Args[2:], " ")
	if c.kills == 0 {
		panic(errKilled)
	}
	defer func() {
		if c.kills--; c.kills == 0 {
			panic(errKilled)
		}
	}()
	if c.fails != "" && strings.HasPrefix(line, c.fails) {
		return errors.New("the client said no")
	}
	dir := claude(c.w.t).pluginDir(c.w.options)
	source := map[string]any{"source": "directory", "path": dir}
	switch words := strings.Fields(line); {
	case words[0] == "validate":
	case strings.HasPrefix(line, "marketplace add"):
		c.edit("plugins/known_marketplaces.json", map[string]any{"source": source, "installLocation": dir, "lastUpdated": "then"}, pluginMarket)
		c.edit("settings.json", map[string]any{"source": source}, "extraKnownMarketplaces", pluginMarket)
	case strings.HasPrefix(line, "marketplace update"):
		c.edit("plugins/known_marketplaces.json", map[string]any{"source": source, "installLocation": dir, "lastUpdated": "now"}, pluginMarket)
	case strings.HasPrefix(line, "marketplace remove"):
		c.edit("plugins/known_marketplaces.json", nil, pluginMarket)
		c.edit("settings.json", nil, "extraKnownMarketplaces", pluginMarket)
	case words[0] == "install":
		tree, err := claude(c.w.t).Tree(c.w.machine.OS, c.w.options)
		if err != nil {
			c.w.t.Error(err)
		}
		c.w.write(".claude/plugins/cache/cmemd/cmemd/x", "a copy", 0o600)
		c.edit("plugins/installed_plugins.json", []any{map[string]any{"scope": "user", "version": treeVersion(tree)}}, "plugins", pluginID)
		c.edit("settings.json", true, "enabledPlugins", pluginID)
	case words[0] == "uninstall":
		c.edit("plugins/installed_plugins.json", nil, "plugins", pluginID)
		c.edit("settings.json", nil, "enabledPlugins", pluginID)
	default:
		c.w.t.Errorf("an unknown command: %s", line)
	}
	return nil
}

// edit sets a member of a file, or takes it out.
func (c *client) edit(name string, value any, path ...string) {
	c.w.t.Helper()
	name = ".claude/" + name
	all := map[string]any{}
	if text, err := os.ReadFile(c.w.path(name)); err == nil {
		if err := json.Unmarshal(text, &all); err != nil {
			c.w.t.Error(err)
		}
	} else if strings.HasSuffix(name, "installed_plugins.json") {
		all["version"] = 2
	}
	at := all
	for _, key := range path[:len(path)-1] {
		below, _ := at[key].(map[string]any)
		if below == nil {
			below = map[string]any{}
		}
		at[key], at = below, below
	}
	if at[path[len(path)-1]] = value; value == nil {
		delete(at, path[len(path)-1])
	}
	if writes, _ := all["writes"].(float64); c.notes && strings.HasSuffix(name, "settings.json") {
		all["writes"] = writes + 1
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		c.w.t.Error(err)
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(c.w.path(name)); err == nil {
		mode = info.Mode().Perm()
	}
	c.w.write(name, string(text), mode)
}

// apply carries a plan out, and reports whether it got to the end.
func (c *client) apply(p Plan) (done bool) {
	c.w.t.Helper()
	defer func() {
		if r := recover(); r != nil && r != errKilled {
			panic(r)
		}
	}()
	return c.w.store.Apply(c.w.t.Context(), p, c.run, c.w.now()) == nil
}

func (c *client) install() bool   { c.w.t.Helper(); return c.apply(c.w.plan(claudeName)) }
func (c *client) uninstall() bool { c.w.t.Helper(); return c.apply(c.w.planRemoval(claudeName)) }

// change is a person at work on the settings.
func (c *client) change(old, new string) {
	c.w.t.Helper()
	text := c.w.text(".claude/settings.json")
	if !strings.Contains(text, old) {
		c.w.t.Fatalf("no %s in %s", old, text)
	}
	c.w.write(".claude/settings.json", strings.Replace(text, old, new, 1), 0o644)
}

// upgrade makes the next installation another one.
func (c *client) upgrade() { c.w.options.NoMCP = !c.w.options.NoMCP }

// TestPluginBackByteForByte: whatever the client makes of the files, they are what they were; and a second removal finds nothing.
func TestPluginBackByteForByte(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"nothing":     {},
		"settings":    {"settings.json": "{ \"cleanupPeriodDays\": 30 }\n"},
		"empty lists": {"settings.json": "{\n\t\"enabledPlugins\": { },\n\t\"extraKnownMarketplaces\": {}}"},
		"others' plugins": {
			"settings.json":                   `{"enabledPlugins": {"a@b": true}, "extraKnownMarketplaces": {"b": {"source": {"source": "github", "repo": "b/b"}}}}`,
			"plugins/known_marketplaces.json": `{"b": {"source": {"source": "github", "repo": "b/b"}}}`,
			"plugins/installed_plugins.json":  `{"version": 2, "plugins": {"a@b": [{"scope": "user", "version": "1"}]}}`,
		},
		"no plugins any more": {"plugins/known_marketplaces.json": "{}", "plugins/installed_plugins.json": `{"version":2,"plugins":{}}`},
	} {
		for _, upgraded := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/upgraded %v", name, upgraded), func(t *testing.T) {
				t.Parallel()
				w, c := newClient(t)
				for file, text := range files {
					w.write(".claude/"+file, text, 0o644)
				}
				before := w.snapshot()
				if !c.install() || !w.plan(claudeName).Nothing() {
					t.Fatal("it is not whole")
				}
				if upgraded {
					c.upgrade()
					c.install()
				}
				if !c.uninstall() {
					t.Fatal("the removal failed")
				}
				checkBack(t, w, before)
			})
		}
	}
}

// checkBack wants the home as it was, all that was kept gone, and nothing more to remove.
func checkBack(t *testing.T, w *world, before map[string]string) {
	t.Helper()
	now := w.snapshot()
	for name := range now { // of the client's own making
		if now[name] == "folder" && strings.HasPrefix(name, filepath.Join(".claude", "plugins")) {
			delete(now, name)
		}
	}
	for name := range before {
		if before[name] == "folder" && strings.HasPrefix(name, filepath.Join(".claude", "plugins")) {
			delete(before, name)
		}
	}
	if diff := cmp.Diff(before, now); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
	w.checkNothingKept()
	if p := w.planRemoval(claudeName); !p.Nothing() {
		t.Errorf("a second removal would change %+v, run %v", p.Changes, p.Commands)
	}
}

// TestPluginChangedBetween: what a person changed between an installation, an upgrade and a removal stays, and nothing of cmemd's.
func TestPluginChangedBetween(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(c *client){
		"after the installation":  func(c *client) { c.change("30", "31") },
		"before an upgrade":       func(c *client) { c.change("30", "31"); c.upgrade(); c.install() },
		"before and after it":     func(c *client) { c.change("30", "29"); c.upgrade(); c.install(); c.change("29", "31") },
		"before two upgrades":     func(c *client) { c.change("30", "31"); c.upgrade(); c.install(); c.upgrade(); c.install() },
		"and the client is gone":  func(c *client) { c.change("30", "31"); c.w.machine.LookPath = os.Readlink },
		"and the record was lost": func(c *client) { c.change("30", "31"); _ = os.Remove(c.w.store.recordPath(claudeName)) },
		"and a removal failed":    func(c *client) { c.change("30", "31"); c.fails = "marketplace remove"; c.uninstall(); c.fails = "" },
		"a hook by hand, upgraded": func(c *client) {
			c.change("{", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "cmemd-hook claude-code"}]}]},`)
			c.change("30", "31")
			c.upgrade()
			c.install()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, c := newClient(t)
			w.write(".claude/settings.json", "{\n  \"cleanupPeriodDays\": 30\n}\n", 0o644)
			c.install()
			do(c)
			if !c.uninstall() {
				t.Fatal("the removal failed")
			}
			want := map[string]any{"cleanupPeriodDays": 31.0}
			var got map[string]any
			if err := json.Unmarshal([]byte(w.text(".claude/settings.json")), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if s, err := claude(t).readPluginState(w.machine); s != (pluginState{}) || err != nil {
				t.Errorf("the client still knows %+v, %v", s, err)
			}
			if p := w.planRemoval(claudeName); !p.Nothing() {
				t.Errorf("a second removal would change %+v", p.Changes)
			}
		})
	}
}

// TestKilledBetweenCommands: wherever the process ends between the client's commands, the next installation is whole, and a
// removal brings back every byte.
func TestKilledBetweenCommands(t *testing.T) {
	t.Parallel()
	const settings = "{ \"cleanupPeriodDays\":30,\n\t\"enabledPlugins\": {} }"
	for _, begun := range []string{"installing", "upgrading", "removing"} {
		for kills := range 4 {
			for _, again := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, after %d, again %v", begun, kills, again), func(t *testing.T) {
					t.Parallel()
					w, c := newClient(t)
					w.write(".claude/settings.json", settings, 0o640)
					before := w.snapshot()
					if begun != "installing" {
						c.install()
					}
					c.kills = kills
					if begun == "removing" {
						if done := c.uninstall(); done != (kills > 2) {
							t.Errorf("the removal was whole: %v", done)
						}
					} else {
						c.upgrade()
						c.install()
					}
					c.kills = -1
					if again && !(c.install() && w.plan(claudeName).Nothing()) {
						t.Error("the installation is not whole")
					}
					if !c.uninstall() {
						t.Fatal("the removal failed")
					}
					checkBack(t, w, before)
				})
			}
		}
	}
}

// TestRemovalTriedAgain: if a command fails once, every byte comes back all the same, and the backup is kept till then.
func TestRemovalTriedAgain(t *testing.T) {
	t.Parallel()
	for _, fails := range []string{"uninstall", "marketplace remove"} {
		t.Run(fails, func(t *testing.T) {
			t.Parallel()
			w, c := newClient(t)
			w.write(".claude/settings.json", "{\r\n\t\"cleanupPeriodDays\": 30}", 0o640)
			before := w.snapshot()
			c.notes = true
			c.install()
			c.fails = fails
			if c.uninstall() {
				t.Fatal("it went well")
			}
			if _, err := os.Stat(w.store.backupPath(w.record(claudeName).file(w.path(".claude/settings.json")).Before)); err != nil {
				t.Error(err)
			}
			c.fails = ""
			if !c.uninstall() {
				t.Fatal("the second time too")
			}
			checkBack(t, w, before)
		})
	}
}

// TestForeignMarketplace: another marketplace of cmemd's name, and its plugin, stay.
func TestForeignMarketplace(t *testing.T) {
	t.Parallel()
	const market = `{"source": {"source": "github", "repo": "x/y"}}`
	for name, files := range map[string]map[string]string{
		"known":    {"plugins/known_marketplaces.json": `{"cmemd": ` + market + `}`, "settings.json": `{"enabledPlugins": {"cmemd@cmemd": true}}`},
		"settings": {"settings.json": `{"extraKnownMarketplaces": {"cmemd": ` + market + `}, "enabledPlugins": {"cmemd@cmemd": true}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := newClient(t)
			for file, text := range files {
				w.write(".claude/"+file, text, 0o644)
			}
			if p := w.planRemoval(claudeName); !p.Nothing() {
				t.Errorf("a removal would change %+v, run %v", p.Changes, p.Commands)
			}
		})
	}
}

// TestModeBack: a mode that cmemd made stricter is what it was, after a change of the text too; one that a person gave stays.
func TestModeBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(w *world)
		want os.FileMode
	}{
		"unchanged":         {func(*world) {}, 0o644},
		"changed":           {func(w *world) { w.edited(0o600) }, 0o644},
		"changed, upgraded": {func(w *world) { w.edited(0o600); w.options.HTTP = nil; w.install(claudeName) }, 0o644},
		"a person's own":    {func(w *world) { w.edited(0o400 | 0o200 | 0o040) }, 0o640},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(".claude/settings.json", "{\n  \"a\": 1\n}\n", 0o644)
			w.options.HTTP = &HTTP{Addr: "127.0.0.1:37911", Token: "the-token"}
			w.install(claudeName)
			c.do(w)
			w.uninstall(claudeName)
			info, err := os.Stat(w.path(".claude/settings.json"))
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != c.want {
				t.Errorf("got %o, want %o", got, c.want)
			}
			if text := w.text(".claude/settings.json"); strings.Contains(text, "cmemd") || strings.Contains(text, "the-token") {
				t.Errorf("left is %s", text)
			}
		})
	}
}

func (w *world) edited(mode os.FileMode) {
	w.t.Helper()
	w.write(".claude/settings.json", strings.Replace(w.text(".claude/settings.json"), `"a": 1`, `"a": 2`, 1), mode)
}

// TestOtherListener: hooks that post to an address where the daemon listened once are known from the record.
func TestOtherListener(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:9000/v1/hooks/claude-code"}]}]}}`, 0o644)
	for _, addr := range []string{"127.0.0.1:1", "127.0.0.1:2"} {
		w.options.HTTP = &HTTP{Addr: addr, Token: "the-token"}
		w.install(claudeName)
	}
	if n := strings.Count(w.text(".claude/settings.json"), "127.0.0.1:1/"); n != 0 {
		t.Errorf("%d hooks post where nobody listens any more", n)
	}
	w.options.HTTP = nil
	w.write(".claude/settings.json", w.text(".claude/settings.json")+"\n", 0o600)
	w.uninstall(claudeName)
	if got := w.text(".claude/settings.json"); strings.Count(got, "http://") != 1 || !strings.Contains(got, "127.0.0.1:9000") {
		t.Errorf("left is %s", got)
	}
}
