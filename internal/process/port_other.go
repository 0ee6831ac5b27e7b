//go:build !linux

package process

// Listener is a process that cannot be told here.
func Listener(int) (pid int, command string) { return 0, "" }
