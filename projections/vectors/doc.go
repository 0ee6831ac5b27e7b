// Package vectors finds memory by what it means: a view that keeps one vector of each row, made by an embeddings endpoint,
// in one flat file beside the index.
//
// The file is a header (format, model, dimensions) and rows in the order of their positions, each with a checksum and the
// chain of its record. The last row is the checkpoint: whatever the log holds behind it is asked for again after a crash,
// a torn end is cut off, and a file of another model, size or log is begun anew. It can be deleted at any time.
//
// One goroutine follows the log: it notes what is to be embedded, and zeroes at once what is forgotten. Another one asks
// the endpoint, a few texts at a time, and waits while it fails. Texts are read from the views right before they are
// sent, and secrets are taken out of them first. Searching never waits for either, and says what it could not use.
//
// The files, each referring to those below it:
//
//	ask.go, nearest.go, run.go, rebuild.go, questions.go, fill.go, vectors.go, text.go, spread.go,
//	slab.go, rows.go, pause.go, mapping_unix.go, mapping_other.go, dot.go
//
// What bites: nearest is not near. There always are nearest rows, however little they have to do with a question, so that
// what is found belongs into one list with what was found by words, not before it.
package vectors
