// Package session is the core: what one agent session knows (State), what a command makes of it (Decide), how an event
// changes it (Evolve), and what is owed (Next).
//
// The three functions are all there is. Decide looks and returns drafts, or refuses with a sentinel; Evolve applies
// an event and never fails; Next says which turn is due, or when to ask again. Effects come from Next alone, so a cold
// start, a supervised restart and a crash are one code path: fold the stream, ask Next.
//
//	captured input --(stop, compaction, close, full batch, age)--> turn --> observed | skipped | dropped
//	                                                               |
//	            provider failed: owed again        crashed, interrupted, refused three times: half the batch
//
// An input is forgotten by a MemoryForgotten in its own session's stream alone; in any other stream one changes no outcome.
//
// What waits because its provider is paused or its observer quarantined is held, up to a number and a time (Expire). Where
// Rules.Outputs is set, outputs that did not parse may earn a fresh generation: no crash, and given nothing of what was.
//
// The package is pure: no clock, randomness, environment, I/O, context or goroutine.
//
// What decides stands in decide*.go and next.go, what changes a State in evolve*.go alone; a test tells them apart.
//
// The files, each referring to those below it:
//
//	evolve.go, evolve_ruling.go, evolve_turn.go, evolve_input.go, next.go, decide_capture.go, decide_hold.go,
//	decide_turn.go, decide_request.go, decide.go, state.go, outcome.go, commands.go, work.go, rules.go
//
// What bites: a State is changed in place and belongs to one goroutine. Events that Decide returned are evolved before
// they have a position; Place fills positions in when the log has given them, and Next must not be asked in between.
// A failed append leaves a State that is ahead of the log: throw it away and fold again.
package session
