// Package sentence cuts text of any language into sentences, and says how much one of them tells somebody who comes later, and what
// it is for. It looks at what a sentence names and at words that stand in sentences of a kind, and understands nothing.
//
// The files, each referring to those below it:
//
//	subject.go, typed.go, weigh.go, dated.go, cue.go, sentence.go
//
// What bites: the words are data, a file a language (cues). A sentence in another language has the weight of what it names alone.
package sentence
