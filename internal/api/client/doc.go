// Package client asks a daemon over its socket, or over its loopback address: each route of package api by one call, Invoke, and
// what comes in a stream by methods of its own.
//
// The files, each referring to those below it:
//
//	streams.go, start.go, client.go, messages.go
//
// What bites: a Client that gets no answer says api.ErrNotRunning; one whose answer ends early says api.ErrCut, and what it was
// given until then stands.
package client
