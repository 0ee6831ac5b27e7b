package install

import (
	"os"
	"strings"
)

// A Machine is what surrounds the agents. All fields are set by the caller; it is not changed.
type Machine struct {
	OS       string                       // as runtime.GOOS has it
	Home     string                       // the person's home folder
	Getenv   func(string) string          // of the environment
	LookPath func(string) (string, error) // finds a program
}

// has reports whether one of some programs can be started, or a folder is there.
func (m Machine) has(programs []string, dir string) bool {
	for _, p := range programs {
		if _, err := m.LookPath(p); err == nil {
			return true
		}
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// A Program says how agents call cmemd.
type Program struct {
	Hook  []string // what a hook runs, before the agent's name: cmemd-hook, or cmemd and hook
	Cmemd string   // the command itself
	Home  string   // that each call names, whatever variables an agent has; empty: none does, and it finds one by itself
}

// hook is what a hook of agent runs, as a list of arguments.
func (p Program) hook(agent string) []string {
	return append(append(append([]string{}, p.Hook...), p.home()...), agent)
}

// home is how a call names its home.
func (p Program) home() []string {
	if p.Home == "" {
		return nil
	}
	return []string{"--home", p.Home}
}

// hookLine is what a hook of agent runs, as a line for the system's shell.
func (p Program) hookLine(goos, agent string) string {
	var words []string
	for _, arg := range p.hook(agent) {
		words = append(words, ShellWord(goos, arg))
	}
	return strings.Join(words, " ")
}

// server is what runs cmemd as a server.
func (p Program) server() []string { return append([]string{p.Cmemd, "mcp"}, p.home()...) }

// ShellWord is a word as the shell of a system reads it: a POSIX shell, but for windows.
func ShellWord(goos, word string) string {
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
