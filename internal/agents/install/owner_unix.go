//go:build unix

package install

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwned reports whether a file is this user's. A file that is replaced becomes its writer's.
func isOwned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}

// hasNames reports whether a file has other names (hard links). A file that is replaced loses them.
func hasNames(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}
