package evidence

import (
	"fmt"
	"syscall"
)

// FolderID names a folder wherever it is moved to on its disk: its device, its inode, and when it was made, since an inode is used
// again. It is empty where there is no folder. A copy has another.
func FolderID(dir string) string {
	var st syscall.Stat_t
	if err := syscall.Lstat(dir, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d.%09d", st.Dev, st.Ino, st.Birthtimespec.Sec, st.Birthtimespec.Nsec)
}
