// Package upgrade is `cmemd upgrade`: it tells by which way this copy of cmemd came here, says or runs what that way has for an upgrade,
// and has the new program take the daemon's place.
//
// The files, each referring to those below it:
//
//	command.go, run.go, origin.go, node.go, machine.go, access_unix.go, access_windows.go
//
// What bites: nothing asks for a newer version unless a person called this command, and then it is the way's own tool that asks. The
// daemon is not stopped before the new program is there: an upgrade that fails changes nothing.
package upgrade
