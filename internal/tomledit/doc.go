// Package tomledit says in which line of a TOML text each key stands, and changes keys and tables of one that a person wrote: all
// else in it stays as it is, comments, order, blank lines, ends of lines.
//
// The files, each referring to those below it:
//
//	tables.go, keys.go, lines.go, tomledit.go
package tomledit
