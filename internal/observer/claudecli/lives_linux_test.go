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
		const threads = 17 // how many there are: the first ends before others, that hold its files
		ended := fields[0] == "X" || fields[0] == "Z" && (fields[threads] == "0" || fields[threads] == "1")
		if (own || fields[2] == strconv.Itoa(pid)) && !ended {
			return true
		}
	}
	return false
}
