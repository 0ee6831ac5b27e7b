// Package turn is what becomes of one request to an observer, without an actor: the prompt is loaded from the log (load.go;
// whole.go chooses what a summary reads of its session, repeats.go marks the inputs that say nothing new, undone.go finds the
// observations whose work they undid), a provider is asked (ask.go), its output is parsed (answer.go), and what it says is held
// against the evidence of the batch and of the repository (grounding.go: files and commits; support.go: what was said; origin.go:
// whose words the turn read). Who is asked, when, and what is recorded is the caller's.
//
// The files, each referring to those below it:
//
//	answer.go, undone.go, load.go, whole.go, repeats.go, ask.go, origin.go, support.go, grounding.go, turn.go
//
// What bites: Result may run git for a few seconds. A prompt's Touched is for grounding and is never sent.
package turn
