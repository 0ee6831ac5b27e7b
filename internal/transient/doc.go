// Package transient says of an error that it may pass by itself, so that the same call may succeed later. Whoever makes an
// error knows; whoever decides whether to try again, or which status to answer, asks. An error without a mark is permanent, but for the
// end of a context and a full disk.
//
// The files, each referring to those below it:
//
//	transient.go, full_windows.go, full_other.go
package transient
