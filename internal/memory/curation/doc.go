// Package curation is what a person, or an agent, does to memory by hand: save, correct, undo, forget, have inputs observed
// again, look at claims again, say which folders are one project, and count a log anew. Each decision is an event; the views follow.
//
// The files, each referring to those below it:
//
//	projects.go, correct.go, confirm.go, save.go, recheck.go, compare.go, verify.go, reobserve.go, reobserve_wait.go, reobserve_choose.go,
//	reobserver.go, requested.go, forget.go, curation.go
//
// What bites:
//   - Corrections and undos go one at a time, and wait until the views know those before them: what is corrected must stand.
//   - A memory is recorded without private text and without secrets, also where only a path or a name holds them.
package curation
