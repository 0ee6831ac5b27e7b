//go:build !windows

package transient

import "syscall"

// fullDisk is how a system says it.
func fullDisk() []syscall.Errno { return []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} }
