package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Uninstall plans what takes cmemd out of the agent. A file that nobody has changed since gets back the bytes that it had
// before, or goes if there was none; from another one exactly cmemd's own entries go. Errors are those of Install.
func (a Agent) Uninstall(m Machine, o Options, s Store) (Plan, error) {
	rec, err := s.Load(a.Name)
	p := Plan{Agent: a.Name, Title: a.Title, Method: MethodSettings, Removal: true}
	switch {
	case errors.Is(err, ErrDamagedRecord):
		rec = &Record{Format: recordFormat, Agent: a.Name, Method: p.Method}
		p.Notes = append(p.Notes, s.recordPath(a.Name)+" is damaged"+notKnown)
	case err != nil:
		return Plan{}, err
	case rec != nil:
		p.Method = rec.Method
	}
	p.record = rec
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

// notKnown is what a person is shown where a backup, or the record that names it, is lost.
const notKnown = ": what was there before cmemd came is not known, and its entries alone are taken out"

// restore adds what becomes of one file.
func (p *Plan) restore(t target, f *FileRecord, s Store) error {
	c, err := read(t.path)
	if err != nil {
		return err
	}
	base, err := s.restored(t, f)
	known := f
	switch {
	case errors.Is(err, errLost):
		known = nil
	case err != nil:
		return err
	}
	ch := Change{Path: t.path, Before: c.bytes(), Old: c.mode, deferred: t.client != nil && len(p.Commands) > 0}
	if c.exists {
		if ch.After, ch.Mode, err = t.outcome(c, known, base); err != nil {
			return err
		}
		ch.Mode = f.modeFor(c)
	}
	if ch.deferred {
		if known == nil {
			base = ch.After // it tells what the client leaves behind from what was there
		}
		p.deferred = append(p.deferred, deferredFile{t, base})
	}
	if !c.exists {
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
	if f != known {
		p.Notes = append(p.Notes, "the backup of "+t.path+" is lost"+notKnown)
	}
	p.Changes = append(p.Changes, ch)
	return nil
}

// holds reports whether text has entries of cmemd's.
func holds(e editor, text []byte) (bool, error) {
	if e == nil || text == nil {
		return false, nil
	}
	without, err := e.strip(text, nil)
	return !bytes.Equal(without, text), err
}

// removePlugin adds what makes the agent's client forget the plugin.
func (p *Plan) removePlugin(a Agent, m Machine, o Options) error {
	if !a.Hooks.Plugin {
		return nil
	}
	state, err := a.readPluginState(m)
	if err != nil {
		return err
	}
	dir := a.pluginDir(o)
	if _, err := os.Stat(dir); err == nil {
		p.TreeDir, p.trash = dir, append(p.trash, dir)
	}
	if state.another(dir) {
		return nil
	}
	// The client only marks its copy, for some later day; a token may be in it.
	if cache := filepath.Join(a.dir(m), "plugins", "cache", pluginMarket); p.Method == MethodPlugin || state.market != "" {
		p.trash = append(p.trash, cache)
	}
	if state.market == "" {
		return nil
	}
	p.Method = MethodPlugin
	if _, err := m.LookPath(a.Programs[0]); err != nil {
		p.Notes = append(p.Notes, a.Programs[0]+" is not on the PATH: what it knows of the plugin is taken out of its files")
		return nil
	}
	if state.version != "" {
		p.Commands = append(p.Commands, a.pluginCommand("uninstall", pluginID))
	}
	p.Commands = append(p.Commands, a.pluginCommand("marketplace", "remove", pluginMarket))
	return nil
}
