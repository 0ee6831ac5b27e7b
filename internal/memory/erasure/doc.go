// Package erasure takes out of a log what a person wants forgotten, and what has been kept for long enough, with everything
// that was made of it: raw inputs, outputs, observations, summaries, and the rows and index entries of all views.
//
// What follows from what is read from the log alone: a turn's outputs are made of the inputs that it settled, of what it
// read, and of the prompt that it served. Choose finds what goes; MemoryForgotten says so in each session's own stream; then
// payloads are erased and the files that held them are made anew. A file of positions, never words, beside the log says what
// is under way, so that a crash at any moment is made good at the next start, and an error in the same life.
//
// The files, each referring to those below it:
//
//	run.go, requested.go, finish.go, retention.go, plan.go, choose.go, others.go, eraser.go, silent.go, graph.go, state.go,
//	request.go, match.go
//
// What bites: headers stay, and so do names of projects and folders in SessionOpened: they are structure. Backups, exports
// and the agents' own transcripts are other files; nobody here reaches them. The titles that a prompt's brief named are not on
// record, so what a later turn made of a title is found only by its words.
package erasure
