// Package logtest is the suite that every engine of eventlog.Log must pass.
//
//	func TestMemory(t *testing.T) {
//		logtest.Run(t, func(testing.TB) logtest.Log { return eventlog.NewMemory(eventlog.Config{}) })
//	}
//
// The files, each referring to those below it:
//
//	run.go, append.go, restore.go, read.go, model.go, logtest.go
//
// What bites: an opener is called many times, also at once; each call must give an empty log of its own.
package logtest
