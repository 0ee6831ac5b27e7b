// Command cmemd is the daemon that keeps a coding agent's memory, and the one command by which people reach it.
//
// main.go takes hooks past everything else, because agents wait for them. root.go holds the tree of sub-commands; each
// has a file of its own and is thin: it reads arguments, asks the daemon through package api, and prints. daemon.go wires
// the packages together; serve.go runs that until it is told to stop.
//
// Exit codes are few and are the same everywhere; see internal/terminal. What people read goes to standard output as a
// table, or as plain columns where it is no terminal, or as JSON with --json; what went wrong goes to standard error, with
// what to do next.
package main
