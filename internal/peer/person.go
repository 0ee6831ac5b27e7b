package peer

import (
	"path/filepath"
	"slices"
	"strings"
)

// process is what the system knows of one.
type process struct {
	pid, parent                int
	group, session, foreground int    // ids of the leaders of its group, its session, and of the group in its terminal's foreground
	terminal                   bool   // it has a controlling terminal
	program                    string // the path of its executable; empty: not known
	names                      []string
	arguments                  []string
	variables                  []string // the names of those that its program was started with; none: not known
}

// Agents is what processes of agents, and below them, are known by.
type Agents struct {
	Programs  []string // what agents' programs are called, in small letters
	Variables []string // of the environment: agents set them for the commands that they run, and nobody else does
}

// reader returns what the system knows of a process. The error says that there is none of that id, or that nothing is known of it.
type reader func(pid int) (process, error)

// maxAncestors is how many processes may stand above one another: more is a loop, or hides something.
const maxAncestors = 128

// personal reports whether p is a person's command. Its group's leader, and other leaders, may have ended: a pipeline outlives its first
// command. Whose parents have ended was handed to the first process, and is known by its leaders.
func personal(p process, read reader, agents Agents) bool {
	if !p.terminal || p.session <= 0 || !clear(p, read, agents) {
		return false
	}
	for _, pid := range []int{p.group, p.session, p.foreground} {
		if leader, err := read(pid); pid > 0 && err == nil && !clear(leader, read, agents) {
			return false
		}
	}
	return true
}

// clear reports whether neither p nor any process above it is an agent's. What cannot be told is no, but for a parent of which
// the system tells nothing, and that is there: it is another user's, and above it are others of theirs.
func clear(p process, read reader, agents Agents) bool {
	for range maxAncestors {
		if agents.has(p) {
			return false
		}
		if p.parent <= 0 {
			return true
		}
		parent, err := read(p.parent)
		if err == nil {
			p = parent
			continue
		}
		again, err := read(p.pid) // the parent may have ended meanwhile
		switch {
		case err != nil:
			return false
		case again.parent == p.parent:
			return true
		}
		p = again
	}
	return false
}

// has reports whether a process is an agent's program, or was started with what an agent sets for its commands. That it was is known
// also where the agent has ended, or the process was handed to the first one: what a program is started with goes on to what it starts.
func (a Agents) has(p process) bool {
	return slices.ContainsFunc(calledOf(p), func(name string) bool { return slices.Contains(a.Programs, name) }) ||
		slices.ContainsFunc(p.variables, func(name string) bool { return slices.Contains(a.Variables, name) })
}

// namesOf are the names of variables as a process is given them.
func namesOf(variables []string) (names []string) {
	for _, kv := range variables {
		if name, _, ok := strings.Cut(kv, "="); ok {
			names = append(names, name)
		}
	}
	return names
}

// calledOf is what a process goes by: its program, and the script that an interpreter runs.
func calledOf(p process) (names []string) {
	for _, name := range append([]string{p.program}, p.names...) {
		if name = plain(name); name != "" {
			names = append(names, name)
		}
	}
	if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(interpreters(), name) }) {
		return names
	}
	for _, arg := range p.arguments {
		if !strings.HasPrefix(arg, "-") {
			return append(names, plain(arg))
		}
	}
	return names
}

// interpreters are programs whose first argument is the program that counts: agents are written for these (2026).
func interpreters() []string {
	return []string{"node", "nodejs", "bun", "deno", "python", "python3", "sh", "bash", "dash", "zsh", "env"}
}

// endings are what may stand behind a program's name in its file's.
func endings() []string {
	return []string{" (deleted)", ".js", ".mjs", ".cjs", ".py", ".exe", ".appimage"}
}

// plain is the name of a program without its folder, its ending, and what a helper of its adds: "Code Helper (Plugin)" is code.
func plain(path string) string {
	name := strings.ToLower(filepath.Base(path))
	if name == "." || name == "/" {
		return ""
	}
	for _, end := range endings() {
		name = strings.TrimSuffix(name, end)
	}
	name, _, _ = strings.Cut(name, " helper")
	return strings.TrimPrefix(name, "-") // of a login shell
}
