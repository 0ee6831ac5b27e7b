// Package ignore says which paths a person does not want to see recorded, by files named .cmemdignore that are written as
// .gitignore files are, and stand in any folder for what lies below it.
//
// It imports the standard library only: what agents start at every tool call uses it too.
//
// The files, each referring to those below it:
//
//	tree.go, pattern.go, class.go, link_unix.go, link_other.go
//
// What bites:
//   - As in git, nothing below an ignored folder can be taken in again.
//   - A path counts as it is written and as its links lead: one that is ignored either way is ignored.
//   - Letters count as they are: on a file system that takes A for a, write both.
package ignore
