package claudecli

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

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
