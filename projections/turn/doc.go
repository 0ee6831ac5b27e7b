// Package turn is the view of turns, and what other views that count turns share with it: how turns end, and a fold that takes
// back what a turn has added to sums before it adds what is known of it now.
//
// The files, each referring to those below it:
//
//	read.go    finds turns
//	view.go    the view of turns: what each was asked, settled, cost and led to
//	fold.go    keeps what each turn has added to sums
//	result.go  how turns end
//
// What bites: a turn that was never started is in the view all the same, with what is known of it; sums pass it over.
package turn
