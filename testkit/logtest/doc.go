// Package logtest is the suite that an eventlog.Log must pass.
//
//	func TestBolt(t *testing.T) {
//		logtest.RunDurable(t, func(tb testing.TB, dir string) logtest.Log { return mustOpen(tb, dir) })
//	}
//
// Open gives tests of other packages a log.
//
// The files, each referring to those below it:
//
//	run.go, reader.go, shifted.go, append.go, restore.go, read.go, model.go, logtest.go
//
// What bites: an opener is called many times, also at once; each call must give an empty log of its own.
package logtest
