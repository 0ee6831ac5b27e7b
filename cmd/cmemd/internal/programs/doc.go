// Package programs keeps cmemd's own programs where agents find them for months: in bin, a folder of the home. A program that lies where
// something else clears up is copied there: npm's folders, the cache of the go command, the folder for temporary files.
//
// Beside the copies stands source.json, which says where they came from, so that whoever brings a newer version knows the way.
//
// The files, each referring to those below it:
//
//	hub.go, ask_version.go, programs.go
//
// What bites:
//   - What lies elsewhere stays where it is, and hooks name it there: a package manager keeps such a path, and a second copy would
//     stay old when it brings a new one. Only where hooks start a copy already does a newer cmemd take its place by way of a start.
//   - cmemd is copied last, and source.json after it. A loss of power in between leaves programs of two versions, each of them
//     whole; the same command run again puts that right.
//   - Windows does not replace a program that runs: stop the daemon first.
package programs
