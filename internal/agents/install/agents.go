package install

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
	"github.com/cmemd/cmemd/internal/agents/known"
)

// Options say what is put into an agent's settings.
type Options struct {
	Program  Program
	Version  string // of cmemd
	Home     string // where cmemd keeps its files: records, backups and the plugin are below
	Settings bool   // Claude Code: into its settings file, and not as a plugin
	HTTP     *HTTP  // Claude Code: its hooks post to the daemon where they can; nil: they run a program
	NoMCP    bool   // no memory as tools
	Listen   string // where the daemon listens, host and port: hooks that post there are cmemd's; empty: nowhere

	hookAddrs []string // where hooks of cmemd's were set to post to
}

// knowing is o with what the record of an installation says; nil: there is none.
func (o Options) knowing(r *Record) Options {
	o.hookAddrs = nil
	if r != nil {
		o.hookAddrs = append(o.hookAddrs, r.Addrs...)
	}
	if o.HTTP != nil && !slices.Contains(o.hookAddrs, o.HTTP.Addr) {
		o.hookAddrs = append(o.hookAddrs, o.HTTP.Addr)
	}
	return o
}

// addrs are those where hooks of cmemd's post to.
func (o Options) addrs() []string {
	if o.Listen == "" {
		return o.hookAddrs
	}
	return append([]string{o.Listen}, o.hookAddrs...)
}

// HTTP is where hooks post to.
type HTTP struct {
	Addr  string // of the daemon: host and port
	Token string // that it wants
}

// An Agent is one that cmemd can be put into.
type Agent struct{ known.Agent }

// Found reports whether the agent is on a machine: its program, or a folder that only it makes.
func (a Agent) Found(m Machine) bool { return m.has(a.Programs, a.dir(m)) }

// Captures reports whether it has hooks; else it is only given memory as tools.
func (a Agent) Captures() bool { return a.Hooks.File != "" }

// HookFile is the file with the agent's hooks, and with what switches them off.
func (a Agent) HookFile(m Machine) string {
	return filepath.Join(a.dir(m), filepath.FromSlash(a.Hooks.File))
}

func (a Agent) dir(m Machine) string { return a.Folder.Path(m.OS, m.Home, m.Getenv) }

// A target is a file of an agent, and what cmemd keeps in it.
type target struct {
	path   string
	edit   editor
	client editor // what the agent's own client puts into it, at cmemd's word; nil: nothing
	secret bool   // nobody but its owner may read it: a token goes into it
}

// Agents lists them in the order in which they are shown.
func Agents() (all []Agent) {
	for _, a := range known.All() {
		if a.Server.File != "" {
			all = append(all, Agent{a})
		}
	}
	return all
}

// ByName returns the agent of that name; known is false where there is none.
func ByName(name string) (a Agent, known bool) {
	all := Agents()
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return all[i], true
}

// targets are the files of an agent, that of its hooks first.
func (a Agent) targets(m Machine, o Options) []target {
	ts, server := a.hookTargets(m, o), a.serverTarget(m, o)
	if len(ts) > 0 && ts[0].path == server.path {
		ts[0].edit = editors{ts[0].edit, server.edit}
		return ts
	}
	return append(ts, server)
}

func (a Agent) hookTargets(m Machine, o Options) []target {
	t := target{path: a.HookFile(m)}
	switch {
	case !a.Captures():
		return nil
	case a.Hooks.Plugin:
		return a.clientTargets(m, o)
	case a.Hooks.Script:
		t.edit = wholeEditor{agents.Script(a.Name, o.Program.hook(a.Name)...)}
	default:
		t.edit = a.hookEdits(m.OS, o)
	}
	return []target{t}
}

// serverTarget is where an agent has its servers. Where cmemd's is not wanted, or stands in a plugin, one that is there goes.
func (a Agent) serverTarget(m Machine, o Options) target {
	folder := a.Folder
	if a.Server.Folder != (known.Folder{}) {
		folder = a.Server.Folder
	}
	dir := folder.Path(m.OS, m.Home, m.Getenv)
	t := target{path: filepath.Join(dir, a.Server.File)}
	if commented := filepath.Join(dir, a.Server.Commented); a.Server.Commented != "" && isFile(commented) {
		t.path = commented
	}
	value := o.fill(m.OS, a.Name, a.Server.Fields)
	t.edit = serverEditor{below: a.Server.Member, value: value}
	if filepath.Ext(t.path) == ".toml" {
		t.edit = tomlEditor{below: a.Server.Member, value: value}
	}
	if a.Captures() && o.NoMCP || a.Hooks.Plugin && !o.Settings {
		t.edit = stripEditor{t.edit}
	}
	return t
}

// hookEdits writes the hooks of an agent, each at its event. Where they post to the daemon, those that open a session still run a
// program: Claude Code passes posting hooks over there without a word.
func (a Agent) hookEdits(goos string, o Options) hookEditor {
	edit := hookEditor{flat: a.Hooks.Flat, version: a.Hooks.Version}
	run := o.fill(goos, a.Name, a.Hooks.Handler)
	handler := run
	if a.Hooks.HTTPHandler != nil {
		edit.addrs = o.addrs()
		if o.HTTP != nil {
			handler = o.fill(goos, a.Name, a.Hooks.HTTPHandler)
		}
	}
	for i, event := range a.Hooks.Events {
		value := handler
		switch {
		case slices.Contains(a.OpenEvents, event):
			value = run
		case a.Hooks.EndHandler != nil && i == len(a.Hooks.Events)-1:
			value = o.fill(goos, a.Name, a.Hooks.EndHandler)
		}
		if !a.Hooks.Flat {
			value = jsonedit.Object{{Key: "hooks", Value: []any{value}}}
		}
		edit.entries = append(edit.entries, entry{event, value})
	}
	if a.Hooks.BeforeRead != "" {
		read := jsonedit.Object{{Key: "matcher", Value: "Read"}, {Key: "hooks", Value: []any{handler}}}
		edit.entries = append(edit.entries, entry{a.Hooks.BeforeRead, read})
	}
	return edit
}

// fill returns the fields with what they stand for on this machine.
func (o Options) fill(goos, agent string, fields []known.Field) (out jsonedit.Object) {
	argv := o.Program.hook(agent)
	for _, f := range fields {
		value := f.Value
		switch value {
		case known.HookLine:
			value = o.Program.hookLine(goos, agent)
		case known.HookProgram:
			value = argv[0]
		case known.HookArgs:
			value = argv[1:]
		case known.PostURL:
			value = "http://" + o.HTTP.Addr + "/v1/hooks/" + agent
		case known.PostHeaders:
			value = jsonedit.Object{{Key: "Authorization", Value: "Bearer " + o.HTTP.Token}}
		case known.ServerProgram:
			value = o.Program.Cmemd
		case known.ServerArgs:
			value = o.Program.server()[1:]
		case known.ServerCommand:
			value = o.Program.server()
		}
		out = append(out, jsonedit.Member{Key: f.Key, Value: value})
	}
	return out
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
