package extractive

import (
	"path"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// outcome is how a command ended, as far as its exit tells.
type outcome uint8

const (
	unknown outcome = iota
	passed
	failed
)

// step is one simple command of a shell command.
type step struct {
	evidence.Simple
	words []string // the first few, without words of control and assignments before the program
}

const (
	maxSteps = 64
	maxWords = 12
)

// steps are what a shell command that is split runs, the scripts of nested shells with it.
func steps(simple []evidence.Simple) []step {
	all := make([]step, 0, len(simple))
	for _, c := range simple {
		if all = append(all, stepsOf(c)...); len(all) >= maxSteps {
			break
		}
	}
	return all
}

// stepsOf takes the words of control off c, and puts the script of a nested shell in the place of the shell.
func stepsOf(c evidence.Simple) []step {
	c.Text = line(strings.ReplaceAll(c.Text, "\\\n", " "))
	if c.Next == ")" {
		c.Next = ""
	}
	c.Words = withoutAssignments(c.Words)
	if len(c.Words) == 0 {
		return substituted(c)
	}
	for len(c.Words) > 0 {
		if w := c.Words[0]; evidence.PrecedesProgram(w) {
			c.Text = strings.TrimSpace(strings.TrimPrefix(c.Text, w))
			c.Words = withoutAssignments(c.Words[1:])
			continue
		}
		switch c.Words[0] {
		case "for", "done", "fi", "esac", "case", "function", "select", "}":
			return nil
		case "bash", "sh", "zsh":
			if len(c.Words) > 2 && strings.HasSuffix(c.Words[1], "c") && c.Words[1][0] == '-' {
				inner := steps(evidence.Split(c.Words[2]))
				if n := len(inner); n > 0 {
					inner[n-1].Next = c.Next
				}
				return inner
			}
		}
		return []step{newStep(c, c.Words)}
	}
	return nil
}

// withoutAssignments are the words of a command from its program on.
func withoutAssignments(words []string) []string {
	for len(words) > 0 && toolinput.IsAssignment(words[0]) {
		words = words[1:]
	}
	return words
}

func newStep(c evidence.Simple, words []string) step {
	return step{Simple: c, words: words[:min(len(words), maxWords)]}
}

// substituted is the step of assignments alone: A=$(cmd) does what cmd does, and ends as it ends.
func substituted(c evidence.Simple) []step {
	for _, script := range slices.Backward(c.Scripts) {
		if inner := evidence.Split(script); len(inner) > 0 {
			return []step{newStep(c, inner[len(inner)-1].Words)}
		}
	}
	return nil
}

// quiet is for commands that only move about, print or wait: how they end says nothing.
func (s step) quiet() bool {
	switch s.words[0] {
	case "cd", "echo", "printf", "true", ":", "export", "set", "unset", "source", ".", "sleep", "pwd", "wait", "exit",
		"cat", "head", "tail", "tee", "tr", "cut", "sort", "uniq", "wc", "sed", "awk", "column", "less", "kill", "pkill", "killall", "pgrep", "clear",
		"mkdir", "touch", "chmod", "ln", "pushd", "popd", "trap":
		return true
	}
	return false
}

// onlyRemoves is for commands that only clear away: what was removed may matter, that the command went well does not.
func (s step) onlyRemoves() bool { return s.words[0] == "rm" || s.words[0] == "rmdir" }

// onlyReads is for commands that only look at files or at the system.
func (s step) onlyReads() bool {
	switch s.words[0] {
	case "find", "xargs", "command", "history", "strings":
		return true
	case "go":
		return s.sub(1) == "doc" || s.sub(1) == "list" || s.sub(1) == "env" || s.sub(1) == "version" || s.sub(1) == "mod" && s.sub(2) == "graph"
	case "npm", "pnpm", "yarn":
		return s.sub(1) == "ls" || s.sub(1) == "list" || s.sub(1) == "view" || s.sub(1) == "info" || s.sub(1) == "outdated"
	case "git":
		switch s.sub(1) {
		case "status", "log", "diff", "show", "blame", "branch", "remote", "rev-parse", "ls-files", "ls-tree", "describe",
			"reflog", "config", "fetch", "cat-file", "grep", "shortlog", "for-each-ref", "":
			return true
		}
	case "gh":
		return s.sub(2) == "view" || s.sub(2) == "list" || s.sub(2) == "status" || s.sub(2) == "checks" || s.sub(2) == "diff"
	}
	return evidence.OnlyReads(s.words[0]) || s.quiet()
}

// runsInline is for programs whose first argument says that the next one is their source: they ask something once, and check nothing.
func (s step) runsInline() bool {
	return len(s.words) > 2 && (s.words[1] == "-c" || s.words[1] == "-e" || s.words[1] == "--eval") && strings.ContainsAny(s.words[2], ";()\n")
}

// settles is for git where it changes what is recorded, here or elsewhere.
func (s step) settles() bool {
	if s.words[0] != "git" || slices.Contains(s.words, "--dry-run") || slices.Contains(s.words, "--abort") {
		return false
	}
	switch s.sub(1) {
	case "commit", "push", "merge", "rebase", "cherry-pick", "revert", "reset", "rm", "mv":
		return true
	case "tag":
		return s.sub(2) != ""
	}
	return false
}

// sub is the nth word behind the program that is no flag, or "".
func (s step) sub(n int) string {
	for _, w := range s.operands() {
		if strings.HasPrefix(w, "-") {
			continue
		}
		if n--; n == 0 {
			return w
		}
	}
	return ""
}

// operands are the words behind the program, without the options of git that come before its sub-command.
func (s step) operands() []string {
	rest := s.words[1:]
	for s.words[0] == "git" && len(rest) > 1 && (rest[0] == "-C" || rest[0] == "-c") {
		rest = rest[2:]
	}
	return rest
}

// family names the kind of work that a command does: its program and up to two sub-commands. Runs of one family check
// the same thing, perhaps of more or less.
func (s step) family() string {
	name := s.words[0]
	if strings.Count(name, "/") > 1 {
		name = path.Base(name)
	}
	taken := 0
	for _, w := range s.operands() {
		if strings.HasPrefix(w, "-") && taken == 0 {
			continue
		}
		if taken == 2 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789-:_") != "" || w == "" || w[0] == '-' {
			break
		}
		taken++
		name += " " + w
	}
	return name
}

// akin tells whether two families are one, or one a part of the other.
func akin(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+" ") || strings.HasPrefix(b, a+" ")
}

// ended says how the steps of a command ended, as far as the shell told it: ok that it succeeded as a whole.
// Unknown ends are those of all but the last command of a pipe, of a list, and of whatever "||" follows.
func ended(all []step, ok bool) []outcome {
	ends := make([]outcome, len(all))
	if !ok {
		blamed := -1
		for i, s := range all {
			if s.quiet() {
				continue
			}
			if blamed >= 0 {
				return ends
			}
			blamed = i
		}
		if blamed >= 0 && (all[blamed].Next == "" || all[blamed].Next == "&&" || all[blamed].Next == ";") {
			ends[blamed] = failed
		}
		return ends
	}
	for i := len(all) - 1; i >= 0; i-- {
		if a := all[i].Next; a != "" && a != "&&" {
			break
		}
		if i > 0 && all[i-1].Next == "||" {
			break
		}
		ends[i] = passed
	}
	return ends
}
