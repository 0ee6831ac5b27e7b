// Package prompt makes of a turn what a language model is asked: a System that is the same for every turn of a mode, so
// that a service can cache it, and a User with a brief and the batch. A question stands alone, and costs the same at the
// end of a session as at its start.
//
// Captured text is data. It stands between lines that carry a mark, made from a hash of the whole message and chosen so
// that it occurs nowhere in it: no text can end its own fence, or pass for another record. What a model makes of it all the
// same is judged by the output contract and by the checks of its claims, as any output is.
//
// The files, each referring to those below it:
//
//	renderer.go, summary.go, batch.go, flatten.go, message.go, tree.go, clean.go, dump.go, blob.go,
//	trivial.go, system.go, elide.go
//
// What bites: the fence keeps text apart, it does not keep a model from believing it. Limits are in characters for single
// fields and in bytes for the whole. Text is redacted before it is shortened, because half a secret is not recognised.
package prompt
