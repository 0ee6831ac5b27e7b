// Package capturetest has what tests of capturing share: payloads as Claude Code sends them, and the spool of a home.
//
// The files, each referring to those below it:
//
//	spool.go, payload.go
package capturetest
