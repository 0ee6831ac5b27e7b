package evidence

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FolderID names a folder wherever it is moved to on its disk: its device, its inode, and when it was made, since an inode is used
// again. One that is used again within a tick of the file system's clock, some milliseconds, is not told apart. It is empty where
// there is no folder, or its file system does not tell all three. A copy has another.
func FolderID(dir string) string {
	var st unix.Statx_t
	const want = unix.STATX_INO | unix.STATX_BTIME | unix.STATX_TYPE
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW, want, &st)
	if err != nil || st.Mask&want != want || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return ""
	}
	return fmt.Sprintf("%d.%d:%d:%d.%09d", st.Dev_major, st.Dev_minor, st.Ino, st.Btime.Sec, st.Btime.Nsec)
}
