package install

import (
	"path/filepath"

	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
)

// pluginEditor takes cmemd's members out of a file of Claude Code's. The client's own commands put them in, and leave some.
type pluginEditor struct {
	dir        string // of cmemd's marketplace
	marketPath []any  // where the file names the marketplace; none: nowhere
	pluginPath []any  // where it names the plugin
	version    bool   // a member "version" stands beside
}

func (pluginEditor) put(text []byte) ([]byte, error) { return text, nil }

func (e pluginEditor) strip(text, base []byte) ([]byte, error) {
	d, old := jsonedit.Parse(text), parseBase(base)
	if e.foreign(d) {
		return text, nil
	}
	e.remove(d, old, e.pluginPath)
	e.remove(d, old, e.marketPath)
	if e.version && old != nil {
		pruneVersion(d, old)
	}
	d.RestoreSpace(old)
	return edited(d, old)
}

// foreign reports whether d gives the marketplace's name to something else than cmemd's folder.
func (e pluginEditor) foreign(d *jsonedit.Document) bool {
	if e.marketPath == nil {
		return false
	}
	value, there := d.Get(e.marketPath...)
	market, _ := value.(map[string]any)
	source, _ := market["source"].(map[string]any)
	dir, _ := source["path"].(string)
	return there && (source["source"] != "directory" || filepath.Clean(dir) != e.dir)
}

// remove takes what stands at path out of d, and the object around it where it is empty then and was not in old.
func (e pluginEditor) remove(d, old *jsonedit.Document, path []any) {
	if len(path) == 0 {
		return
	}
	_, there := d.Get(path...)
	d.Remove(path...)
	if len(path) == 1 || old == nil && (e.version || !there) {
		return // it may be the client's own way of writing nothing
	}
	prune(d, old, path[:len(path)-1]...)
}

// pluginTargets are the files that the client's commands change and that a removal restores. Hooks is what else cmemd has in
// the first of them. Where the name is another marketplace's, none of its members are cmemd's.
func (a Agent) pluginTargets(m Machine, o Options, hooks editor) []target {
	dir := a.dir(m)
	plugins := filepath.Join(dir, "plugins")
	folder := a.pluginDir(o)
	settings := pluginEditor{dir: folder, marketPath: []any{"extraKnownMarketplaces", pluginMarket}, pluginPath: []any{"enabledPlugins", pluginID}}
	ts := []target{
		{path: a.HookFile(m), client: settings},
		{path: filepath.Join(plugins, "known_marketplaces.json"), client: pluginEditor{dir: folder, marketPath: []any{pluginMarket}}},
		{path: filepath.Join(plugins, "installed_plugins.json"), client: pluginEditor{dir: folder, pluginPath: []any{"plugins", pluginID}, version: true}},
	}
	if s, err := a.readPluginState(m); err != nil || s.another(folder) {
		return []target{{path: ts[0].path, edit: hooks}}
	}
	for i := range ts {
		ts[i].edit = ts[i].client
	}
	ts[0].edit = editors{hooks, settings}
	return ts
}

// pluginDir is the folder of cmemd's marketplace.
func (a Agent) pluginDir(o Options) string { return filepath.Join(o.Home, "install", a.Name) }

// another reports whether Claude Code knows a marketplace of cmemd's name that is not in dir.
func (s pluginState) another(dir string) bool {
	return s.foreign || s.market != "" && filepath.Clean(s.market) != dir
}

// clientTargets are the files of an agent whose client takes a plugin: that of hooks, and those in which the client keeps its
// plugins. Where the plugin is put in, the first loses what another way of installing, or the person, put there: each event
// would be reported twice.
func (a Agent) clientTargets(m Machine, o Options) []target {
	if !o.Settings {
		return a.pluginTargets(m, o, stripEditor{a.hookEdits(m.OS, o)})
	}
	ts := a.pluginTargets(m, o, a.hookEdits(m.OS, o))
	ts[0].secret = o.HTTP != nil
	for i := range ts {
		ts[i].client = nil
	}
	return ts
}
