//go:build !windows

package homedir

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// programFile is when the file at path became what it is under that name, its last change of status, because archives and packages give
// their files an older time of writing; and what names the file among all of this machine, as long as somebody has it open.
func programFile(path string) (put time.Time, file string, err error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return time.Time{}, "", err
	}
	return time.Unix(st.Ctim.Unix()).UTC(), fmt.Sprintf("%d-%d-%d", st.Dev, st.Ino, st.Mtim.Nano()), nil
}
