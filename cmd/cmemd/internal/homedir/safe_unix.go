//go:build linux || darwin

package homedir

import "syscall"

// KeepPrivate lets no file that this process makes from now on be read by others.
func KeepPrivate() { syscall.Umask(0o077) }
