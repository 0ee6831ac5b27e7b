package claudecli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lives reports whether a process or one of its group is there. One that has ended, though nobody has looked at it, is not:
// whose parent was killed is looked at by the system, in its own time.
func lives(pid int) bool {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		stat := string(b)
		fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // state, parent, group
		own := strings.HasPrefix(stat, strconv.Itoa(pid)+" ")
		if (own || fields[2] == strconv.Itoa(pid)) && fields[0] != "Z" && fields[0] != "X" {
			return true
		}
	}
	return false
}
