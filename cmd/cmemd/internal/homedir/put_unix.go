//go:build !windows

package homedir

import (
	"time"

	"golang.org/x/sys/unix"
)

// putTime is when the file at path became what it is under that name: its last change of status, because archives and packages give
// their files an older time of writing.
func putTime(path string) (time.Time, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return time.Time{}, err
	}
	return time.Unix(st.Ctim.Unix()).UTC(), nil
}
