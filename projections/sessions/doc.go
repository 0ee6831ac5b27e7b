// Package sessions is the view of sessions: one row each.
//
// The files, each referring to those below it:
//
//	read.go      finds sessions, and fills in what other views know of them
//	fold.go      counts what happened in a session
//	parts.go     a session of which several machines have records
//	sessions.go  the view's tables, sessions and filters
//
// What bites: a session counts by headers alone, so that nothing that is forgotten changes it.
package sessions
