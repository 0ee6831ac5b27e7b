// Package events says what can happen: every kind of event as a plain struct, the envelope it travels in, and the
// codec that turns both into bytes and back.
//
// An event is a fact in the past tense. It is written once and never changed; what was released decodes for ever
// (testdata holds one golden file a kind). Fields are added with new CBOR numbers, never renumbered, never given
// another meaning: that takes a new kind, or a new schema with a pure upcaster beside the old decoder.
//
// The package is pure: no clock, randomness, environment, I/O, context or goroutine. Salts and times are given.
//
// The files, each referring to those below it:
//
//	carve.go, layout.go, codec.go, record.go, moved.go, traits.go, fields.go, kindof.go, captured.go, projects.go, memory.go,
//	salvage.go, supervision.go, bill.go, turns.go, kinds.go, output.go, ids.go
//
// What bites: a Record aliases the bytes it was read from (whoever reads says how long they live), and decodes its
// payload only when Event is called, each time anew. A header is enough for most folds; see Header.Unobserved. Positions in payloads
// are those of the log that holds the record: whoever decides by a union of logs translates before it appends.
package events
