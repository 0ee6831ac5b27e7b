// Package storetest holds what every store.Store must pass, and stores for the tests of those who use one.
//
// Run tests an engine through several connections, as several machines have them; RunConnected one whose connections fail, RunDurable
// one that is ended and opened again, and RunKilled kills a process that writes with -9, as Writer and Ledger let other tests do.
// Memory is an engine in memory whose connections have
// faults: they lose answers, delay, are cut, serve old states; and the engine itself can forget and lie. It keeps time by timers
// alone, so it runs under testing/synctest, where it is made inside the bubble. Proxy gives the connections to a real server faults.
//
// The files, each referring to those below it:
//
//	durable.go, run.go, connection.go, watch.go, model.go, races.go, objects.go, list.go, proxy.go, ledger.go, world.go, faulty.go, memory.go
package storetest
