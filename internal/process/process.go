// Package process tells processes apart and ends them with what they started.
//
// What bites: the number of a process is given to others once it has ended. A process of an earlier program is signalled
// only where Lives says that it is still the same; one's own child by its os.Process, which knows when it has been waited for.
package process

// Lives reports whether the process that had this number, start time and boot still runs. What cannot be told is no.
func Lives(pid int, start, boot string) bool {
	if pid <= 1 || start == "" || boot == "" || boot != BootID() {
		return false
	}
	now, err := StartTime(pid)
	return err == nil && now == start
}
