// Package tomledit changes keys and tables of a TOML text that a person wrote, and leaves all else in it as it is: comments,
// order, blank lines, ends of lines.
//
// The files, each referring to those below it:
//
//	tables.go, keys.go, tomledit.go
package tomledit
