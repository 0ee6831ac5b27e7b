// Package provider decides whom a turn may be asked of: it is the pure core that the dispatcher carries out and that
// replay takes again. It has no clock, no log and no actor.
//
// The files, each referring to those below it:
//
//	status.go    Status: how things stand, for people
//	pool.go      Pool: the slots, the queue and all that follows; Next says who is served next
//	recovery.go  what a crash kept from being decided, found in the end of the log
//	choose.go    Choose: the first candidate that may be asked, or the barrier before all of them
//	ledger.go    Ledger: what was used of the budget
//	decide.go    Decide: which pause or resumption follows from how a turn ended
//	state.go     State: one provider's circuit (open, resting, half open), folded by Evolve from its stream
//	routes.go    Routes: the candidates of a turn, in the order in which they are preferred
//	previous.go  how the last life of the daemon ended
//	degrade.go   when so many sessions are quarantined that the daemon captures only
//	barrier.go   Barrier: what keeps a turn from being asked, and for how long
//
// What bites:
//   - Several routes may share a provider's name: a tier asks another model of it. They share its circuit.
//   - What Evolve reads is recorded; what Heard, Blame and the Pool keep is not, and a crash of the daemon loses it.
//   - A turn counts against the budget when it ends: as many of them as there are slots may pass a limit together.
package provider
