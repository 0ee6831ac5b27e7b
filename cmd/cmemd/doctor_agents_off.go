package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/cmemd/cmemd/internal/agents/install"
	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
)

// line is the command that installs in the same way again.
func (f installCommand) line(agent string) string {
	line := "cmemd install " + agent
	if agent == "claude-code" && f.settings {
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

// An offSwitch is a member of an agent's settings that keeps all hooks, or cmemd's, from being run.
type offSwitch struct {
	agent string
	path  []any
	off   func(value any) bool
	mend  string
}

func offSwitches() []offSwitch {
	is := func(want bool) func(any) bool { return func(v any) bool { return v == want } }
	return []offSwitch{
		{"claude-code", []any{"disableAllHooks"}, is(true), "take disableAllHooks out of it"},
		{"gemini-cli", []any{"hooksConfig", "enabled"}, is(false), "let hooksConfig.enabled be true in it"},
		{"gemini-cli", []any{"hooksConfig", "disabled"}, func(v any) bool {
			names, _ := v.([]any)
			return slices.Contains(names, any("cmemd"))
		}, "take cmemd out of hooksConfig.disabled in it"},
	}
}

// switchedOff says that an agent's settings switch hooks off; ok is true where they do not.
func (in *installation) switchedOff(a install.Agent) (c checked, ok bool) {
	for _, s := range offSwitches() {
		if s.agent != a.Name {
			continue
		}
		path, d, err := in.settingsOf(a)
		if err != nil {
			return unknown("%s: whether its hooks are switched on: %v", a.Title, err), false
		}
		if value, _, err := d.Get(s.path...); err == nil && s.off(value) {
			return wrong(s.mend, "%s: %s switches its hooks off", a.Title, path), false
		}
	}
	return c, true
}

// settingsOf reads the file of settings of an agent that has one; no file is an empty one.
func (in *installation) settingsOf(a install.Agent) (path string, d *jsonedit.Document, err error) {
	o := in.options
	o.Settings = true
	files, err := a.Whole(in.machine, o)
	for _, f := range files {
		if filepath.Base(f.Path) == "settings.json" {
			path = f.Path
		}
	}
	if err != nil || path == "" {
		return path, nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return path, nil, err
	}
	d, err = jsonedit.Parse(text)
	return path, d, err
}
