package main

import (
	"os"
	"runtime"
	"slices"

	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
)

// line is the command that installs in the same way again.
func (f installCommand) line(a install.Agent) string {
	line := "cmemd install " + a.Name
	if a.Hooks.Plugin && f.settings {
		line += " --settings"
	}
	if f.http {
		line += " --http"
	}
	if f.noMCP {
		line += " --no-mcp"
	}
	return line
}

// unlike says what a plan would change; empty: nothing.
func unlike(p install.Plan) string {
	switch {
	case p.Nothing():
		return ""
	case len(p.Changes) > 0:
		return p.Changes[0].Path + " does not hold what `cmemd install` puts there"
	case p.TreeDir != "":
		return p.TreeDir + " is not the plugin that `cmemd install` puts there"
	}
	return "the plugin is not installed there, or is switched off"
}

// notRunnable is the first program that agents are to run and cannot; empty: they can run all.
func notRunnable(p install.Program) string {
	for _, path := range []string{p.Hook[0], p.Cmemd} {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			return path
		}
	}
	return ""
}

// switchedOff says that an agent's settings switch hooks off; ok is true where they do not.
func (in *installation) switchedOff(a install.Agent) (c checked, ok bool) {
	if len(a.Hooks.Off) == 0 {
		return c, true
	}
	path := a.HookFile(in.machine)
	var d *jsonedit.Document
	text, err := os.ReadFile(path)
	if err == nil || os.IsNotExist(err) {
		d, err = jsonedit.Parse(text)
	}
	if err != nil {
		return unknown("%s: whether its hooks are switched on: %v", a.Title, err), false
	}
	for _, s := range a.Hooks.Off {
		value, _, err := d.Get(s.Path...)
		off := !s.Within && value == s.Is
		if list, ok := value.([]any); ok && s.Within {
			off = slices.Contains(list, s.Is)
		}
		if err == nil && off {
			return wrong(s.Mend, "%s: %s switches its hooks off", a.Title, path), false
		}
	}
	return c, true
}
