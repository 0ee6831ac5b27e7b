package process

// An Identity names one process of the machine for good: numbers alone are used again. It is written down as JSON.
type Identity struct {
	PID       int    `json:"pid"`
	StartTime string `json:"start_time"` // as the system counts it; empty: unknown, such a process is nobody
	BootID    string `json:"boot_id"`    // of the boot in which it started
}

// Identify returns the identity of the process that has a number now.
func Identify(pid int) Identity {
	start, _ := StartTime(pid) // unknown: it does not live
	return Identity{PID: pid, StartTime: start, BootID: BootID()}
}

// Lives reports whether the process still runs. It is false where that cannot be found out.
func (i Identity) Lives() bool { return Lives(i.PID, i.StartTime, i.BootID) }

// Lives reports whether the process that had this number, start time and boot still runs. It is false where that
// cannot be found out.
func Lives(pid int, start, boot string) bool {
	if pid <= 1 || start == "" || boot == "" || boot != BootID() {
		return false
	}
	now, err := StartTime(pid)
	return err == nil && now == start
}
