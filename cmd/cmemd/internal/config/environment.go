package config

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/setting"
)

// takeEnvironment takes from an environment what a daemon of this home is given.
func (l *Loaded) takeEnvironment(environ []string) {
	l.Programs, _ = relay.ReadPrograms(l.Home)    // without it programs are looked for where systems have them
	all := l.variablesOf(setting.ProviderNames()) // a command may ask whom the settings do not name
	l.Environ, _ = relay.DaemonEnv(environ, l.Programs, all)
	_, l.leftOut = relay.DaemonEnv(environ, l.Programs, l.Variables())
}

// Variables are the names of the variables that a daemon with these settings is to be given: each is named as the source of a key
// of somebody who is asked, or for the client of claude-cli.
func (l *Loaded) Variables() []string { return l.variablesOf(l.ConfiguredProviders()) }

func (l *Loaded) variablesOf(providers []string) (names []string) {
	for _, name := range append(slices.Clone(providers), EmbeddingsName) {
		name = setting.ServiceOf(name)
		switch {
		case name == claudecli.Name:
			names = append(names, l.ClaudeEnv...)
		case l.Service(name) != nil && (name != EmbeddingsName || l.Embeddings.Endpoint.URL != ""):
			names = append(names, l.keySource(name).Env)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// ClaudeEnviron is the environment of the client of claude-cli, but for what makes it quiet: what every daemon is given, and what
// the settings say.
func (l *Loaded) ClaudeEnviron() []string {
	p := l.Programs
	p.Path = cmp.Or(p.Path, l.Getenv("PATH"))
	env, _ := relay.DaemonEnv(l.Environ, p, l.ClaudeEnv)
	return append(env, l.forClaude()...)
}

// Program is a path of Programs where there is a program still; else empty, and whoever runs it looks for it.
func Program(path string) string {
	if _, err := exec.LookPath(path); err != nil || !filepath.IsAbs(path) {
		return ""
	}
	return path
}
