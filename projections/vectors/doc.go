// Package vectors finds memory by what it means: a view that keeps one vector of each row, made by an embeddings endpoint,
// in a bbolt file of its own beside the index. The file outlives rebuilds of the other views, because its rows were paid for.
//
// Rows lie in blocks, in the order of their positions, and are compared where they lie in the file. The file says of which model
// they are and up to which record of the log: whatever is behind it is asked for again after a crash, and a file of another
// model, size or log is begun anew. Each start checks all rows, and makes those anew that stand behind a damaged one. The file
// can be deleted at any time.
//
// One goroutine follows the log: it notes what is to be embedded, and deletes at once what is forgotten, from the bytes of the
// file too. Another one asks the endpoint, a few texts at a time, and waits while it fails. Texts are read from the views right
// before they are sent, and secrets are taken out of them first. Searching never waits for either, and says what it could not use.
//
// The files, each referring to those below it:
//
//	ask.go, nearest.go, run.go, rebuild.go, questions.go, fill.go, vectors.go, slab.go, store.go, embed.go, text.go,
//	spread.go, pause.go, dot.go, block.go
//
// What bites: nearest is not near. There always are nearest rows, however little they have to do with a question, so that
// what is found belongs into one list with what was found by words, not before it.
package vectors
