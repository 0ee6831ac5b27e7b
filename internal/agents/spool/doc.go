// Package spool keeps what a hook could not give to a daemon until one takes it: sealed to a key of the daemon's, on disk, in the
// order of time. The hook puts an entry, and removes it where the daemon took it after all; the daemon drains, rescues, forgets and
// renews keys. It is linked into the program that agents start at every tool call, and uses nothing but the standard library.
//
// The files, each referring to those below it:
//
//	keys.go, rescue.go, forget.go, drain.go, spool.go, sealed.go, withheld.go, entry.go, files.go, counts.go
//
// What bites:
//   - Several processes use one spool at once, and any of them may be killed between two steps: a file is whole and on disk before it
//     has its name in new, and is deleted only where its reader has it on disk elsewhere.
//   - An entry may reach the daemon twice, posted and from here. Both carry one delivery id.
package spool
