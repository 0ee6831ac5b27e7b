// Package person runs a command as a person does, whatever runs the tests: Main is a program of a test binary.
//
// The files, each referring to those below it:
//
//	person.go, terminal_linux.go, terminal_darwin.go, terminal_other.go
//
// What bites: without a pseudo-terminal, as on Windows, it ends with 125.
package person
