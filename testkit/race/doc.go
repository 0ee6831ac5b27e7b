// Package race tells tests whether the race detector was built in, and keeps those of real processes out of it.
//
// The detector watches one process's memory. A test that starts processes, kills them, or runs programs of others shows
// nothing more under it: a killed process reports no race, a program of others was not built with it. Each start takes many
// times as long though, and limits of time that such a test rightly has are missed on a busy machine. So these tests run
// without the detector alone; it is for tests in which the daemon, or a part of it, runs in the test's own process.
//
// The files, each referring to those below it:
//
//	race.go, off.go, on.go
//
// What bites: a test that is skipped here is run by `go test ./...` only. What it alone runs concurrently is under no detector,
// and wants a test in one process beside it.
package race
