package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
)

// ErrMethod is returned where cmemd is in an agent in one way and is to be put there in another.
var ErrMethod = errors.New("install: it is installed in another way")

// A Plan is what will be done with one agent. Making it changes nothing.
type Plan struct {
	Agent    string
	Title    string
	Method   string // MethodSettings or MethodPlugin
	Removal  bool
	Changes  []Change
	Commands []Command // of the agent's own client, run in this order
	Tree     []File    // written to TreeDir; none of a removal, which removes that folder
	TreeDir  string    // empty: there is none
	Notes    []string  // for the person

	recordDamaged bool    // the record of what held before is damaged; a whole one is written
	optionsDiffer bool    // it says of HTTP or MCP what is not asked for now
	old           *Record // what held before; nil: nothing was there, or it is lost
	record        *Record // what holds once it is done; for a removal: what held before
	keep          [][]byte
	clientFiles   []target       // files that the commands change
	deferred      []deferredFile // those of a removal
	trash         []string       // folders that a removal deletes
}

// A Change is one file as it is and as it will be.
type Change struct {
	Path   string      // as the agent names it; it may be a link, which stays
	Before []byte      // nil: the file is not there
	After  []byte      // nil: it is deleted
	Old    fs.FileMode // of Before
	Mode   fs.FileMode // of After

	deferred bool // it is written after the commands were run, from what they made of it
}

// A Command is a program of the agent's and its arguments.
type Command struct{ Args []string }

// Nothing reports whether there is nothing to do: all is as it should be.
func (p Plan) Nothing() bool {
	return len(p.Changes) == 0 && len(p.Commands) == 0 && p.TreeDir == "" && !p.recordDamaged && !p.optionsDiffer && !(p.Removal && p.record != nil)
}

// Diff is the change as a unified diff.
func (c Change) Diff() []byte {
	text := diff.Diff(c.Path, c.Before, c.Path, c.After)
	if _, rest, found := bytes.Cut(text, []byte("\n")); found && bytes.HasPrefix(text, []byte("diff ")) {
		return rest
	}
	return text
}

// Install plans what puts cmemd into the agent, or brings it up to date. Errors name the file that stands in the way
// (FileError), or are ErrMethod, ErrForeign, ErrNewerRecord or those of reading.
func (a Agent) Install(m Machine, o Options, s Store) (Plan, error) {
	p := Plan{Agent: a.Name, Title: a.Title, Method: MethodSettings}
	old, err := s.Load(a.Name)
	switch {
	case errors.Is(err, ErrDamagedRecord):
		p.recordDamaged, err = true, nil
		p.Notes = append(p.Notes, s.recordPath(a.Name)+" is damaged, and is written anew: what was there before cmemd came is not known")
	case err != nil:
		return p, err
	}
	p.old = old
	if a.Hooks.Plugin && !o.Settings {
		p.Method = MethodPlugin
	}
	if old != nil && old.Method == MethodPlugin && p.Method != MethodPlugin {
		return p, fmt.Errorf("%w: as a plugin", ErrMethod)
	}
	o = o.knowing(old)
	p.record = &Record{Format: recordFormat, Agent: a.Name, Method: p.Method, Version: o.Version, Addrs: o.hookAddrs}
	p.record.HTTP, p.record.NoMCP = o.HTTP != nil && a.Hooks.HTTPHandler != nil, o.NoMCP
	if old != nil {
		p.record.Files = append(p.record.Files, old.Files...)
		p.optionsDiffer = old.HTTP != p.record.HTTP || old.NoMCP != p.record.NoMCP
	}
	for _, t := range a.targets(m, o) {
		if err := p.addChange(t, s); err != nil {
			return p, err
		}
	}
	if p.Method == MethodPlugin {
		err = p.plugin(a, m, o)
	}
	if p.optionsDiffer && len(p.Changes)+len(p.Commands) == 0 {
		p.Notes = append(p.Notes, "its files are so already; only cmemd's record of what was asked for changes")
	}
	return p, err
}

// Whole lists the files that the agent would have if it had nothing but cmemd's entries, by their paths.
func (a Agent) Whole(m Machine, o Options) ([]File, error) {
	var files []File
	for _, t := range a.targets(m, o) {
		text, err := t.edit.put(nil)
		if err != nil {
			return nil, err
		}
		if text != nil {
			files = append(files, File{Path: t.path, Text: text, Mode: 0o600})
		}
	}
	return files, nil
}

// addChange adds what is to be done with one file.
func (p *Plan) addChange(t target, s Store) error {
	c, err := read(t.path)
	if err != nil {
		return err
	}
	after, err := t.edit.put(c.text)
	if err != nil {
		return &FileError{t.path, err}
	}
	mode := fs.FileMode(0o600)
	if c.exists {
		mode = c.mode
	}
	if t.secret {
		mode &^= 0o077
	}
	if c.exists == (after != nil) && bytes.Equal(after, c.text) && (!c.exists || mode == c.mode) {
		return nil
	}
	if err := c.writable(t.path); err != nil {
		return err
	}
	old := p.record.file(t.path)
	if p.recordDamaged && old == nil && c.exists {
		old = &FileRecord{Path: t.path, Existed: true} // and of what was in it there is no backup
	}
	f, base, err := s.base(t, c, old)
	if err != nil {
		return err
	}
	f.After, f.Set, f.Left = "", mode, ""
	if after != nil {
		f.After = sumOf(after)
	}
	if f.Existed {
		p.keep = append(p.keep, base)
	}
	p.record.put(f)
	p.Changes = append(p.Changes, Change{Path: t.path, Before: c.bytes(), After: after, Old: c.mode, Mode: mode})
	return nil
}

// bytes is what c holds; nil for a file that is not there, and for no other.
func (c fileState) bytes() []byte {
	if c.exists && c.text == nil {
		return []byte{}
	}
	return c.text
}

// pluginCommand is a command of the agent's client for its plugins.
func (a Agent) pluginCommand(args ...string) Command {
	return Command{append([]string{a.Programs[0], "plugin"}, args...)}
}

// plugin adds what makes the agent's client know the plugin.
func (p *Plan) plugin(a Agent, m Machine, o Options) error {
	tree, err := a.Tree(m.OS, o)
	if err != nil {
		return err
	}
	state, err := a.readPluginState(m)
	if err != nil {
		return err
	}
	dir := a.pluginDir(o)
	if state.another(dir) {
		return fmt.Errorf("%s %w: another marketplace, %s", a.Title, ErrForeign, state.market)
	}
	if !sameTree(dir, tree) {
		p.Tree, p.TreeDir = tree, dir
	}
	client := func(args ...string) { p.Commands = append(p.Commands, a.pluginCommand(args...)) }
	version := treeVersion(tree)
	if p.TreeDir == "" && state.market != "" && state.version == version && state.enabled {
		return nil
	}
	client("validate", "--strict", filepath.Join(dir, "cmemd"))
	switch {
	case state.market == "":
		client("marketplace", "add", dir)
	default:
		client("marketplace", "update", pluginMarket)
	}
	if state.version != "" && state.version != version {
		client("uninstall", pluginID)
	}
	if state.version != version {
		client("install", pluginID)
	} else if !state.enabled {
		client("enable", pluginID)
	}
	p.clientFiles = slices.DeleteFunc(a.targets(m, o), func(t target) bool { return t.client == nil })
	return p.checkClientFiles()
}

// checkClientFiles says why a file that the commands change may not be replaced: neither by them, nor by a removal.
func (p *Plan) checkClientFiles() error {
	for _, t := range p.clientFiles {
		c, err := read(t.path)
		if err == nil {
			err = c.writable(t.path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
