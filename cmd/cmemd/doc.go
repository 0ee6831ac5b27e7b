// Command cmemd is the daemon that keeps a coding agent's memory, and the one command by which people reach it.
//
// Here is the wiring alone: main.go takes hooks past everything else, because agents wait for them; root.go hangs the
// sub-commands, which stand below internal, each thin: it reads arguments, asks the daemon through package api, and prints.
//
// The files, each referring to those below it:
//
//	main.go, run.go, root.go, version.go
//
// Exit codes are few and are the same everywhere; see internal/terminal. What people read goes to standard output as a
// table, or as plain columns where it is no terminal, or as JSON with --json; what went wrong goes to standard error, with
// what to do next.
package main
