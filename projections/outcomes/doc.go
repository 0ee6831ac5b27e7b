// Package outcomes is the view of what became of every input, and of the balance of each session and of all.
//
// The files, each referring to those below it:
//
//	read.go      finds inputs and their outcomes
//	fold.go      gives inputs their outcomes, and keeps the balances
//	again.go     what a session asks once more by itself
//	codec.go     the stored form of an input, of a turn that decided and of a balance
//	outcomes.go  the view's tables, inputs, balances and filters
//
// What bites: outcomes follow the rules of session.Outcome and session.Answers, so that the view and a session's state agree. A
// balance of the zero session is that of all.
package outcomes
