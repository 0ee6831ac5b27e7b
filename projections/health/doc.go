// Package health is the view of how the observer does.
//
// The files, each referring to those below it:
//
//	findings.go  what is not well, and what mends it
//	fold.go      counts turns by time, provider and model
//	rulings.go   counts what supervision decided
//	read.go      adds spans up into a Report
//	health.go    the view's tables and keys
//	turn.go      what one turn has added to the counts
//	words.go     how findings say times and models
//	rows.go      a Report and its counts
//	held.go      quarantines, respawns and pauses
//
// What bites: counts go by when a turn ended as recorded, and forgotten turns are taken back from them.
package health
