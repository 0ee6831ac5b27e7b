// Package owned tells whether a file or folder can be another user's doing. What is read from one that can must not be
// believed, and what is secret must not be written there.
//
// It imports the standard library only: what agents start at every tool call uses it. On systems without Unix rights every
// path passes.
//
// The files, each referring to those below it:
//
//	owned.go, rights_unix.go, rights_windows.go
//
// What bites: a folder of this user's in which only this user may write can still be exchanged by whoever may write to one
// above it. Folder looks at the folder alone, Parents at all on the way to it.
package owned
