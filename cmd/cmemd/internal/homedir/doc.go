// Package homedir is the folder of all that cmemd keeps: what lies where, the token, the locks of files that several
// commands change, and what a running daemon writes down of itself.
//
// The files, each referring to those below it:
//
//	overwrite.go, programs.go, version.go, log_wanted.go, next_observer.go, room.go, ingest.go, process.go, put_unix.go, put_windows.go,
//	lost_log.go, log_damage.go, aside.go, scratch.go, paths.go, file_lock.go, safe.go, safe_unix.go, safe_other.go
//
// What bites: a process is believed to be the daemon only while its number, its start and the boot agree; a number alone
// is another process sooner or later.
package homedir
