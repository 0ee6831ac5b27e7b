// Package filelock locks files between processes, as flock does: of those who open one file one holds its lock, until it closes it or
// ends, however it ends. Where a system has no flock Try keeps nobody out; on Windows Open does.
//
// The files, each referring to those below it:
//
//	open.go, open_windows.go, flock.go, none.go
package filelock
