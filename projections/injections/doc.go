// Package injections is the view of which rows an agent was given, and when, and of those that it asked for.
//
// The files, each referring to those below it:
//
//	read.go  what a session was given, and where a row was
//	fold.go  the view's table, and what it enters
//
// What bites: it holds ids, never words.
package injections
