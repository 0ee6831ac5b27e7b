package process

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// BootID names the present boot of the machine; empty if that is unknown.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// StartTime returns when a living process started, in clock ticks since the boot; os.ErrProcessDone for one that has ended.
func StartTime(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	return startOfStat(b)
}

// startOfStat reads the start out of /proc/PID/stat: the 22nd field. The second one, the program's name in parentheses,
// may hold spaces and parentheses itself. A process has ended when its last thread has: until then its files are open, and locked.
func startOfStat(stat []byte) (string, error) {
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	const first, threads, start, state = 3, 20, 22, 0
	if end < 0 || len(fields) <= start-first {
		return "", fmt.Errorf("not a process's state: %q", stat)
	}
	if n := fields[threads-first]; fields[state] == "Z" && (n == "0" || n == "1") {
		return "", os.ErrProcessDone // it has ended and nobody has looked
	}
	return fields[start-first], nil
}
