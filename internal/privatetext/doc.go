// Package privatetext cuts what a person has put between <private> and </private> out of texts and of JSON.
//
// It imports the standard library only: the program that agents start at every tool call cuts private text before anything
// is written. The daemon cuts again, whichever way a report came.
//
// The files, each referring to those below it:
//
//	json.go, text.go, tag.go
//
// What bites:
//   - A tag is told by how it looks: control characters and characters that nobody sees do not hide it, nor do the escapes
//     of JSON and HTML. What is stored keeps the characters that nobody sees: languages need them.
//   - Cut looks into a text that is JSON as a whole as CutJSON does, and so keeps it JSON. Elsewhere a tag that is never
//     closed takes the rest of the text with it.
package privatetext
