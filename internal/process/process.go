package process

// Lives reports whether the process that had this number, start time and boot still runs. What cannot be told is no.
func Lives(pid int, start, boot string) bool {
	if pid <= 1 || start == "" || boot == "" || boot != BootID() {
		return false
	}
	now, err := StartTime(pid)
	return err == nil && now == start
}
