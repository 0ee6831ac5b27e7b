//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package owned

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// isOwnerOnly reports whether a file is this user's and nobody else may write to it.
func isOwnerOnly(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(stat.Nlink)
}

// IsAnothers reports whether a file or folder belongs to another user than this one and root.
func IsAnothers(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0 && int(stat.Uid) != os.Getuid()
}

// writableByOthers says which other user may change what is in a folder, or where a link leads; empty: none may. The group that
// has this user's own name, and nobody else's, as many systems make one for each user, is no other. Rights of a link mean nothing.
func writableByOthers(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	mode := info.Mode()
	switch {
	case IsAnothers(info):
		return "belongs to another user (" + strconv.Itoa(int(stat.Uid)) + ")"
	case mode&(os.ModeSticky|os.ModeSymlink) != 0:
		return ""
	case mode.Perm()&0o002 != 0:
		return "may be written by anybody (" + mode.Perm().String() + ")"
	case mode.Perm()&0o020 != 0 && stat.Gid != 0 && !isOwnGroup(stat.Gid):
		return "may be written by its group (" + mode.Perm().String() + ")"
	}
	return ""
}

// isOwnGroup reports whether a group is this user's alone, as far as its name tells.
func isOwnGroup(id uint32) bool {
	me, err := user.Current()
	if err != nil || me.Gid != strconv.Itoa(int(id)) {
		return false
	}
	group, err := user.LookupGroupId(me.Gid)
	return err == nil && group.Name == me.Username
}
