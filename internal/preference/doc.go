// Package preference finds the sentences in which a person says how to work: lasting rules ("always use pnpm", "never push without
// asking") and corrections ("use pnpm, not npm"). It is asked about what a person typed, a prompt or the reason of a refused tool
// call, and quotes whole sentences of it.
//
// Most of what is typed is about the task at hand, and a good deal of it is not the person's: so it looks at structure first.
// Only the running text is read that a prompt begins with; what is quoted, fenced, indented, listed or introduced by a colon or a
// question is somebody else's. A sentence counts if it is short, asks nothing, speaks of no one thing, and begins as rules begin.
//
// The files, each referring to those below it:
//
//	find.go, running.go, cue.go, words.go
//
// What bites:
//   - The cues are data, a file a language (cues); a sentence of another language is not found.
//   - A sentence that is missed costs the person saying it again; one that was never meant is given to every session. In doubt there is none.
package preference
