// Package sessions is the view of sessions: one row each.
//
// The files, each referring to those below it:
//
//	read.go      finds sessions, and fills in what other views know of them
//	fold.go      counts what happened in a session
//	sessions.go  the view's tables, sessions and filters
//
// What bites: a session counts by headers alone, so that nothing that is forgotten changes it.
package sessions
