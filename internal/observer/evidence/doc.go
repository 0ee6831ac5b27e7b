// Package evidence is ground truth: what a tool call did by its shape, which commits a text claims, and what git says
// of them.
//
// Nothing here believes a sentence. Files come from a call's own fields or from a patch, never from what a model says
// it touched; a command failed by its exit or its client's word, never by what it printed; a commit exists if git finds it.
//
// The files, each referring to those below it:
//
//	checker.go, intree.go, named.go, notable.go, origin.go, project.go, rework.go, shape.go, tracker.go, tree.go, writes.go,
//	edits.go, ask.go, claims.go, repo.go, files.go, shelldiff.go, parse.go, patch.go, call.go, run.go, command.go,
//	programs.go, words.go, shell.go, json.go, folder_linux.go, folder_darwin.go, folder_other.go, config.go
//
// What bites: tool names differ between agents and versions, so calls are told apart by their fields first and a name
// only breaks ties. Inputs and outputs may be cut in the middle of their JSON; what stood before the cut is still
// read.
package evidence
