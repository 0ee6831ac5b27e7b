package transient

import "syscall"

// fullDisk is how a system says it. Windows has ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL and ERROR_DISK_QUOTA_EXCEEDED.
func fullDisk() []syscall.Errno {
	return []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, 39, 112, 1295}
}
