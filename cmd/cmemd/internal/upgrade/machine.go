package upgrade

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/agents/install"
)

// An origin is how a copy of cmemd came to where it is.
type origin struct {
	Way      string     `json:"way"`
	Title    string     `json:"title"`              // the way in words
	Commands [][]string `json:"commands,omitempty"` // what upgrades it: each needs no root and changes only what that way brought
	Step     string     `json:"step,omitempty"`     // what a person is to do where there are no commands

	env            []string // of the commands, beside this process's
	newestCommand  []string // a command that prints the newest version; nil: none does
	binCommand     []string // a command that prints the folder in which the program is once it is upgraded; nil: program is its path
	program        string   // the program once it is upgraded; a name is looked for on PATH
	restartsDaemon bool     // the commands have replaced the daemon
}

// A machine is what is looked at to find out an origin.
type machine struct {
	self     string // the program, without links
	root     string // the folder that stands for the file system's top
	version  string // of the program
	source   string // the folder that it was built from, if it names one
	build    *debug.BuildInfo
	exists   func(path string) bool
	writable func(dir string) bool
	lookPath func(name string) (string, error)
	output   func(ctx context.Context, argv ...string) (string, error)
}

// askManager is what a package manager that is there answers about the program; ok is false where none is, or it does not know it.
func (m machine) askManager(ctx context.Context, argv ...string) (answer string, ok bool) {
	if _, err := m.lookPath(argv[0]); err != nil {
		return "", false
	}
	answer, err := m.output(ctx, argv...)
	return answer, err == nil && answer != ""
}

// commandLine is commands as a person would type them.
func commandLine(commands [][]string) string {
	var lines []string
	for _, argv := range commands {
		words := slices.Clone(argv)
		for i, word := range words {
			words[i] = quoted(word)
		}
		lines = append(lines, "`"+strings.Join(words, " ")+"`")
	}
	return strings.Join(lines, ", then ")
}

// quoted is a word as a POSIX shell takes it.
func quoted(word string) string { return install.ShellWord("linux", word) }
