package peer

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Known is whether the system says what is at the other end of a connection. Without that every command counts as an agent's.
const Known = true

// read reads what /proc says of a process.
func read(pid int) (process, error) {
	b, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return process{}, err
	}
	p, err := parseStat(pid, b)
	if err != nil {
		return process{}, err
	}
	p.program, _ = os.Readlink(procFile(pid, "exe")) // of another user's it is not shown
	line, _ := os.ReadFile(procFile(pid, "cmdline"))
	if args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00"); args[0] != "" {
		p.names, p.arguments = append(p.names, args[0]), args[1:]
	}
	environ, _ := os.ReadFile(procFile(pid, "environ")) // likewise
	p.variables = namesOf(strings.Split(string(environ), "\x00"))
	return p, nil
}

func procFile(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// parseStat reads the line "pid (name) state ppid pgrp session tty_nr tpgid ...". The name may hold anything.
func parseStat(pid int, line []byte) (process, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return process{}, fmt.Errorf("peer: stat of process %d has no name", pid)
	}
	fields := strings.Fields(string(line[end+1:]))
	var n [6]int // from the parent on
	for i := 1; i < len(n); i++ {
		if i >= len(fields) {
			return process{}, fmt.Errorf("peer: stat of process %d ends early", pid)
		}
		var err error
		if n[i], err = strconv.Atoi(fields[i]); err != nil {
			return process{}, fmt.Errorf("peer: stat of process %d: %w", pid, err)
		}
	}
	return process{
		pid: pid, parent: n[1], group: n[2], session: n[3], terminal: n[4] != 0, foreground: n[5], names: []string{string(line[open+1 : end])},
	}, nil
}

// folderOf is the folder that a process works in; empty: it is not known.
func folderOf(pid int) string {
	dir, _ := os.Readlink(procFile(pid, "cwd"))
	return dir
}

// runsOwn reports whether a process runs the executable that this one runs.
func runsOwn(p process) bool {
	theirs, err := os.Stat(procFile(p.pid, "exe"))
	if err != nil {
		return false
	}
	own, err := os.Stat("/proc/self/exe")
	return err == nil && os.SameFile(own, theirs)
}
