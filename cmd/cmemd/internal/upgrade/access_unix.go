//go:build !windows

package upgrade

import "golang.org/x/sys/unix"

// writable reports whether this user may put files into a folder.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }
