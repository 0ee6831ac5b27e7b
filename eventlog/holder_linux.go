package eventlog

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// holderOf names the process that holds a lock on the file at path, as far as the system tells; 0 and "" otherwise.
func holderOf(path string) (pid int, command string) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return 0, ""
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0, ""
	}
	device := fmt.Sprintf("%02x:%02x", unix.Major(uint64(s.Dev)), unix.Minor(uint64(s.Dev)))
	pid = lockHolder(locks, device, s.Ino)
	if pid == 0 {
		return 0, ""
	}
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	program, _, _ := bytes.Cut(line, []byte{0})
	if err != nil || len(program) == 0 {
		return pid, "unknown"
	}
	return pid, filepath.Base(string(program))
}

// lockHolder finds in the text of /proc/locks the process that holds a lock on the file with the given inode, and
// prefers a line of the given device ("fe:00"): some file systems show another device there than stat does.
// It returns 0 when there is none or it cannot be told.
func lockHolder(locks []byte, device string, inode uint64) (pid int) {
	for line := range bytes.Lines(locks) {
		// 12: FLOCK  ADVISORY  WRITE 4711 fe:00:131077 0 EOF; waiters have "->" after the number
		f := strings.Fields(string(line))
		if len(f) < 6 || f[1] != "FLOCK" {
			continue
		}
		p, err := strconv.Atoi(f[4])
		i := strings.LastIndexByte(f[5], ':')
		if err != nil || p <= 0 || i < 0 || f[5][i+1:] != strconv.FormatUint(inode, 10) {
			continue
		}
		if f[5][:i] == device {
			return p
		}
		pid = cmp.Or(pid, p)
	}
	return pid
}
