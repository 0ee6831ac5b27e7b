package install

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Uninstall plans what takes cmemd out of the agent. A file that nobody has changed since gets back the bytes that it had
// before, or goes if there was none; from another one exactly cmemd's own entries go. Errors are those of Install.
func (a Agent) Uninstall(m Machine, o Options, s Store) (Plan, error) {
	rec, err := s.Load(a.Name)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Agent: a.Name, Title: a.Title, Method: MethodSettings, Removal: true, record: rec}
	if rec != nil {
		p.Method = rec.Method
	}
	if err := p.removePlugin(a, m, o); err != nil {
		return p, err
	}
	o = o.knowing(rec)
	o.Settings, o.NoMCP, o.HTTP = p.Method != MethodPlugin, false, nil
	ts := a.targets(m, o)
	if rec != nil {
		for _, f := range rec.Files {
			if !slices.ContainsFunc(ts, func(t target) bool { return t.path == f.Path }) {
				ts = append(ts, target{path: f.Path})
			}
		}
	}
	for _, t := range ts {
		if err := p.restore(t, rec.file(t.path), s); err != nil {
			return p, err
		}
	}
	return p, nil
}

// restore adds what becomes of one file.
func (p *Plan) restore(t target, f *FileRecord, s Store) error {
	c, err := read(t.path)
	if err != nil {
		return err
	}
	base, err := s.restored(t, f)
	if err != nil {
		return err
	}
	ch := Change{Path: t.path, Before: c.bytes(), Old: c.mode, late: t.client != nil && len(p.Commands) > 0}
	if c.there {
		if ch.After, ch.Mode, err = t.outcome(c, f, base); err != nil {
			return err
		}
	}
	if ch.late {
		if f == nil {
			base = ch.After // it tells what the client leaves behind from what was there
		}
		p.late = append(p.late, lateFile{t, base})
	}
	if !c.there {
		return nil
	}
	if ch.After != nil && bytes.Equal(ch.After, ch.Before) && ch.Mode == ch.Old {
		return nil
	}
	if err := c.writable(t.path); err != nil {
		return err
	}
	if left, err := holds(t.edit, ch.After); err == nil && left {
		p.Notes = append(p.Notes, fmt.Sprintf("%s held entries of cmemd before it was installed, and holds them again: the same command once more takes them out", t.path))
	}
	p.Changes = append(p.Changes, ch)
	return nil
}

// isWhole reports whether an editor's file is all cmemd's. Where no record says that it was written, it is left alone.
func isWhole(e editor) bool {
	_, whole := e.(wholeEditor)
	return whole
}

// holds reports whether text has entries of cmemd's.
func holds(e editor, text []byte) (bool, error) {
	if e == nil || text == nil || isWhole(e) {
		return false, nil
	}
	without, err := e.take(text, nil)
	return !bytes.Equal(without, text), err
}

// removePlugin adds what makes Claude Code forget the plugin.
func (p *Plan) removePlugin(a Agent, m Machine, o Options) error {
	if a.Name != claudeName {
		return nil
	}
	state, err := readPluginState(m)
	if err != nil {
		return err
	}
	dir := pluginDir(o)
	if _, err := os.Stat(dir); err == nil {
		p.TreeDir, p.trash = dir, append(p.trash, dir)
	}
	if state.another(dir) {
		return nil
	}
	// The client only marks its copy, for some later day; a token may be in it.
	if cache := filepath.Join(claudeDir(m), "plugins", "cache", pluginMarket); p.Method == MethodPlugin || state.market != "" {
		p.trash = append(p.trash, cache)
	}
	if state.market == "" {
		return nil
	}
	p.Method = MethodPlugin
	if _, err := m.LookPath("claude"); err != nil {
		p.Notes = append(p.Notes, "claude is not on the PATH: what it knows of the plugin is taken out of its files")
		return nil
	}
	if state.version != "" {
		p.Commands = append(p.Commands, Command{[]string{"claude", "plugin", "uninstall", pluginID}})
	}
	p.Commands = append(p.Commands, Command{[]string{"claude", "plugin", "marketplace", "remove", pluginMarket}})
	return nil
}
