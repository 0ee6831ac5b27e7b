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
