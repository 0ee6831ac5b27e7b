package install

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
)

// A Machine is what surrounds the agents. All fields are set by the caller; it is not changed.
type Machine struct {
	OS       string                       // as runtime.GOOS has it
	Home     string                       // the person's home folder
	Getenv   func(string) string          // of the environment
	LookPath func(string) (string, error) // finds a program
}

// dir is the folder that an environment variable names, else one below the person's home.
func (m Machine) dir(variable string, below ...string) string {
	if dir := m.Getenv(variable); variable != "" && filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{m.Home}, below...)...)
}

// config is the folder of a program's settings by the rules of the system.
func (m Machine) config(name string) string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support", name)
	case "windows":
		return filepath.Join(m.dir("APPDATA", "AppData", "Roaming"), name)
	}
	return filepath.Join(m.dir("XDG_CONFIG_HOME", ".config"), name)
}

// has reports whether one of some programs can be started, or a folder is there.
func (m Machine) has(programs []string, dirs ...string) bool {
	for _, p := range programs {
		if _, err := m.LookPath(p); err == nil {
			return true
		}
	}
	for _, d := range dirs {
		if info, err := os.Stat(d); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// A Program says how agents call cmemd.
type Program struct {
	Hook  []string // what a hook runs, before the agent's name: cmemd-hook, or cmemd and hook
	Cmemd string   // the command itself
	Home  string   // the CMEMD_HOME that each call is given; empty: the one that it finds by itself
}

// hook is what a hook of agent runs, as a list of arguments.
func (p Program) hook(goos, agent string) []string {
	argv := append(append([]string{}, p.Hook...), agent)
	if p.Home != "" && goos != "windows" {
		argv = append([]string{"/usr/bin/env", "CMEMD_HOME=" + p.Home}, argv...)
	}
	return argv
}

// hookLine is what a hook of agent runs, as a line for the system's shell.
func (p Program) hookLine(goos, agent string) string {
	var words []string
	for _, arg := range append(append([]string{}, p.Hook...), agent) {
		words = append(words, quoteWord(goos, arg))
	}
	line := strings.Join(words, " ")
	if p.Home != "" && goos != "windows" {
		line = "CMEMD_HOME=" + quoteWord(goos, p.Home) + " " + line
	}
	return line
}

// env is what a server is given of the environment.
func (p Program) env() jsonedit.Object {
	if p.Home == "" {
		return nil
	}
	return jsonedit.Object{{Key: "CMEMD_HOME", Value: p.Home}}
}

// quoteWord is a word as the system's shell reads it.
func quoteWord(goos, word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%=,", r)
	}
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 && word != "" {
		return word
	}
	if goos == "windows" {
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
