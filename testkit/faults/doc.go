// Package faults tries on the real programs what disks, kills and hands do to a home: calls of the system that fail or are cut, files
// that are damaged, exchanged or moved, daemons that are killed while every command runs. What must hold of a home afterwards is
// what `cmemd doctor --deep` looks at; the suite looks besides whether each payload is there once, and what was forgotten nowhere.
// docs/faults.md lists what is tried.
//
//	go test ./testkit/faults -faults                         as the gate does it: a seeded sample, 3 minutes
//	go test ./testkit/faults -faults -faults.all             each call of each operation, and 1,000 damages
//	go test ./testkit/faults -faults -faults.seed N          the same sample again
//
// What bites: the programs are built anew, and each trial has a home and a daemon of its own; without the flag nothing runs. Which
// calls a daemon makes depends on how its goroutines run, so that a seed repeats what is chosen, not what is met. Where processes
// cannot be traced the calls are skipped.
package faults
