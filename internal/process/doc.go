// Package process tells processes apart, finds the one that has a port, ends them with what they started, and keeps what they print.
//
// The files, each referring to those below it:
//
//	process.go, start_linux.go, start_darwin.go, start_other.go, parent_linux.go, parent_other.go,
//	port_linux.go, port_other.go, group_unix.go, group_other.go, output.go
//
// What bites: the number of a process is given to others once it has ended. A process of an earlier program is signalled
// only where Lives says that it is still the same; one's own child by its os.Process, which knows when it has been waited for.
package process
