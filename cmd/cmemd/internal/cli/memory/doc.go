// Package memory is the commands over a daemon's client by which memory is found and shown, saved, corrected and forgotten, shared
// between folders, and taken in from transcripts and from another memory, or written elsewhere.
//
// The files, each referring to those below it:
//
//	commands.go, project.go, export.go, import.go, import_ask.go, sessions.go, timeline.go, why.go, search.go, search_show.go, show.go,
//	show_inputs.go, correct.go, confirm.go, save.go, watch.go, ingest.go, ingest_background.go, transcripts.go,
//	forget_requests.go, forget.go, context.go
//
// What bites: rows hold what agents and services said. They are printed through package terminal alone, which makes control
// characters harmless.
package memory
