// Package growth tells work whose time grows with its size from work whose time grows faster.
//
// The files, each referring to those below it:
//
//	growth.go, took_unix.go, took_other.go
//
// What bites: on Linux and macOS work is measured on the thread of the goroutine that calls Took or Linear. What it leaves to other
// goroutines is not.
package growth
