package claudecli

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// bootID names the present boot of the machine; empty if that is unknown.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// processStart returns when a living process started, in clock ticks since the boot.
func processStart(pid int) (string, error) {
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

// killMarked kills every process that a run's marker stands in the environment of, whatever its group and its parent, and
// reports whether there was one. A process is held before it is looked at, so that no other of its number is hit.
func killMarked(run string) (found bool) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(dir.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if isMarked(pid, run) && p.Kill() == nil {
			found = true
		}
		_ = p.Release() // nothing is waited for
	}
	return found
}

// isMarked looks into a process's environment as it was at its start; that of another user's process cannot be read.
func isMarked(pid int, run string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+Marker+"="+run+"\x00"))
}
