// Package boltcheck looks at the pages of a bbolt file before bbolt does, which trusts them: whether they are whole, what can still be
// reached where they are not, which of them nothing uses, and what those hold that nothing leads to.
//
// The files, each referring to those below it:
//
//	leaves.go, reach.go, unused.go, boltcheck.go
//
// What bites: it knows bbolt's file format, version 2, and nothing of what is being written meanwhile: whoever calls it keeps the file
// from changing.
package boltcheck
