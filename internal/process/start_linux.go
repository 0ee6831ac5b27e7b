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
// may hold spaces and parentheses itself.
func startOfStat(stat []byte) (string, error) {
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	const first, start, state = 3, 22, 0
	if end < 0 || len(fields) <= start-first {
		return "", fmt.Errorf("not a process's state: %q", stat)
	}
	if fields[state] == "Z" {
		return "", os.ErrProcessDone // it has ended and nobody has looked
	}
	return fields[start-first], nil
}
