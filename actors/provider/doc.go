// Package provider decides whom a turn may be asked of: it is the pure core that the dispatcher carries out and that
// replay takes again. It has no clock, no log and no actor.
//
//	state.go     State: one provider's circuit (open, resting, half open), folded by Evolve from its stream
//	decide.go    Decide: which pause or resumption follows from how a turn ended
//	recovery.go  what a crash kept from being decided, found in the end of the log
//	ledger.go    Ledger: what was used of the budget
//	barrier.go   Barrier: what keeps a turn from being asked, and for how long
//	routes.go    Routes: the candidates of a turn, in the order in which they are preferred
//	choose.go    Choose: the first candidate that may be asked, or the barrier before all of them
//	degrade.go   when so many sessions are quarantined that the daemon captures only
//	pool.go      Pool: the slots, the queue and all of the above; Next says who is served next
//
// The files, in the order in which data passes:
//
//	pool.go, recovery.go, choose.go, ledger.go, decide.go, state.go, routes.go, degrade.go, barrier.go
//
// What bites:
//   - Several routes may share a provider's name: a tier asks another model of it. They share its circuit.
//   - What Evolve reads is recorded; what Heard, Blame and the Pool keep is not, and a crash of the daemon loses it.
//   - A turn counts against the budget when it ends: as many of them as there are slots may pass a limit together.
package provider
