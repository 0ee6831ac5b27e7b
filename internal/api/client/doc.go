// Package client asks a daemon over its socket, or over its loopback address: each route of package api by one call, Invoke, and
// what comes in a stream by methods of its own.
//
// The files, each referring to those below it:
//
//	streams.go, start.go, client.go, watch.go, messages.go
//
// What bites: a Client that finds no daemon says api.ErrNotRunning, and one whose daemon hangs api.ErrNoAnswer; one whose answer
// ends early says api.ErrCut, and what it was given until then stands. An answer is watched until its body is closed.
package client
