// Package usage is the view of what turns cost, by when they ended, session, who answered and what came of them.
//
// The files, each referring to those below it:
//
//	read.go   adds cells up into groups
//	fold.go   counts turns
//	codec.go  the form of keys and counts on disk
//	usage.go  the view's tables, counts and filters
//
// What bites: prices are none of its business, Model.Money takes them; turns that run are in no sum.
package usage
