package peer

import (
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestAdvice: nobody is sent to a terminal on a system where no terminal makes a person's command.
func TestAdvice(t *testing.T) {
	t.Parallel()
	for known, want := range map[bool]string{true: "in your own terminal", false: "on Linux (in WSL, say) or macOS"} {
		if got := Advice(known); !strings.Contains(got, want) || strings.Contains(got, "terminal") != known {
			t.Errorf("known %t: %q, want %q in it", known, got, want)
		}
	}
	if want := slices.Contains([]string{"linux", "darwin"}, runtime.GOOS); Known != want {
		t.Errorf("on %s: %t, want %t", runtime.GOOS, Known, want)
	}
}

// TestPersonal: a person's command has a terminal, and no agent's program above it or above whoever leads its terminal.
func TestPersonal(t *testing.T) {
	t.Parallel()
	// A terminal emulator 10 with a shell 20 in it; everything runs on that terminal unless it says otherwise.
	desktop := []process{{pid: 1, names: []string{"systemd"}}, {pid: 10, parent: 1, session: 10, names: []string{"xterm"}}}
	shell := process{pid: 20, parent: 10, group: 20, session: 20, foreground: 20, terminal: true, names: []string{"-bash"}}
	inShell := func(pid, parent, group int, name string, args ...string) process {
		return process{pid: pid, parent: parent, group: group, session: 20, foreground: group, terminal: true, names: []string{name}, arguments: args}
	}
	for name, tc := range map[string]struct {
		asks   process
		others []process
		want   bool
	}{
		"in a shell":             {inShell(30, 20, 30, "cmemd"), []process{shell}, true},
		"a pipe's, leader ended": {inShell(31, 20, 30, "cmemd"), []process{shell}, true},
		"without a terminal":     {process{pid: 30, parent: 20, group: 30, session: 30, names: []string{"cmemd"}}, []process{shell}, false},
		"below an agent":         {inShell(40, 30, 30, "cmemd"), []process{shell, inShell(30, 20, 30, "claude")}, false},
		"far below an agent": {
			inShell(50, 40, 30, "cmemd"), []process{shell, inShell(30, 20, 30, "/opt/Cursor/Cursor"), inShell(40, 30, 30, "/bin/sh", "-c", "x")}, false,
		},
		"below an agent's script": {
			inShell(40, 30, 30, "cmemd"), []process{shell, inShell(30, 20, 30, "node", "--max-old-space-size=1", "/usr/lib/codex/bin/codex.js")}, false,
		},
		"below an editor of its name":    {inShell(40, 30, 30, "cmemd"), []process{shell, inShell(30, 20, 30, "vim", "claude")}, true},
		"below a helper of an agent":     {inShell(40, 30, 30, "cmemd"), []process{shell, inShell(30, 20, 30, "Code Helper (Plugin)")}, false},
		"handed on to the first process": {inShell(40, 1, 30, "cmemd"), []process{shell, inShell(30, 20, 30, "claude")}, false},
		"a terminal of its own, below an agent": {
			process{pid: 50, parent: 40, group: 50, session: 50, foreground: 50, terminal: true, names: []string{"cmemd"}},
			[]process{shell, inShell(30, 20, 30, "claude"), inShell(40, 30, 30, "script")}, false,
		},
		"in the background of an agent's terminal": {
			process{pid: 40, parent: 1, group: 40, session: 20, foreground: 30, terminal: true, names: []string{"cmemd"}},
			[]process{shell, inShell(30, 20, 30, "claude")}, false,
		},
		"handed on, without the agent above it": {
			process{pid: 50, parent: 40, group: 50, session: 50, foreground: 50, terminal: true, names: []string{"cmemd"}},
			[]process{shell, {pid: 40, parent: 1, group: 40, session: 40, names: []string{"script"}, variables: []string{"HOME", "AGENT_RUNS"}}}, false,
		},
		"by its own variables": {
			process{pid: 50, parent: 1, group: 50, session: 50, foreground: 50, terminal: true, names: []string{"cmemd"}, variables: []string{"AGENT_RUNS"}},
			nil, false,
		},
		"with other variables": {
			process{pid: 40, parent: 20, group: 40, session: 20, foreground: 40, terminal: true, names: []string{"cmemd"}, variables: []string{"HOME", "PATH"}},
			[]process{shell}, true,
		},
		"its parents go round":                     {inShell(40, 41, 40, "cmemd"), []process{shell, inShell(41, 40, 40, "sh")}, false},
		"its parent is another user's, and hidden": {inShell(40, 99, 40, "cmemd"), []process{shell}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := map[int]process{}
			for _, p := range append(slices.Concat(desktop, tc.others), tc.asks) {
				all[p.pid] = p
			}
			read := func(pid int) (process, error) {
				if p, ok := all[pid]; ok {
					return p, nil
				}
				return process{}, fs.ErrNotExist
			}
			agents := Agents{Programs: []string{"claude", "codex", "cursor", "code"}, Variables: []string{"AGENT_RUNS"}}
			if got := personal(tc.asks, read, agents); got != tc.want {
				t.Errorf("personal = %t, want %t", got, tc.want)
			}
		})
	}
}

// TestEnded: of a process that ends while it is asked for nothing is believed.
func TestEnded(t *testing.T) {
	t.Parallel()
	asked := 0
	read := func(int) (process, error) {
		asked++
		return process{}, fs.ErrNotExist
	}
	if personal(process{pid: 5, parent: 4, session: 3, terminal: true}, read, Agents{}) || asked == 0 {
		t.Error("it counts as a person's")
	}
}
