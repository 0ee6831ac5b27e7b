// Package jsonedit changes single values of a JSON text that a person keeps, and leaves every other byte of it as it is:
// order, comments, indentation, line ends, a byte order mark. It takes JSON with comments and with commas behind the last
// element, as editors' settings have them. It does no I/O.
//
// The files, each referring to those below it:
//
//	edit.go, render.go, document.go, scan.go
//
// What bites:
//   - A document keeps its first error, as a bufio.Scanner does: whoever edits asks once, by Bytes or Err, behind all edits.
//   - A document is edited by splicing its text and reading it again. Nodes belong to the text they were read from: after
//     an edit they are stale.
//   - An object that has one key twice is refused (ErrTwice) as soon as it is looked into: agents differ in which of the two
//     they take.
package jsonedit
