// Package actors is who acts: one supervised actor for each session that is awake, one observer under it, and a
// dispatcher that hands out leases of providers.
//
//	root ─┬─ dispatcher          carries out provider.Pool: slots, circuits, the budget; first come, first served
//	      └─ sessions            finds, wakes, restarts and parks session actors
//	           └─ session        drains commands into appends; asks session.Next; supervises its observer
//	                └─ observer  one turn at a time, in a goroutine that stopping cancels
//
// A session actor queues commands while an append is in flight; then the whole queue goes through session.Decide and
// out as one append. Callers are answered when it is on disk. What is owed comes from session.Next alone, so that a
// cold start, a restart and a crash take the same path. Decisions (restart, quarantine, halving) are taken by package
// session, and those about providers (pauses, probes, whom a turn is asked of) by package provider; they are appended, and
// then carried out here; protoactor's own counters take no part.
//
// The files, each referring to those below it:
//
//	grant.go, top.go, drain.go, forget.go, turn.go, dropped.go, observer.go, shutdown_cost.go, sessions.go, session.go,
//	dispatcher.go, status.go, system.go, messages.go, route.go, lifecycle.go, workers.go, alarm.go
//
// What bites:
//   - Messages queued in a mailbox vanish when its actor stops. Nobody may count on a mailbox: callers wait with a
//     limit, and what was not acknowledged is delivered again by the hook's spool.
//   - A panic in Stopping or Restarting would revive or count again: those handlers only cancel and answer.
//   - Answers go over buffered channels; a future would hang if its message panicked.
//   - runtime.Goexit in Receive wedges an actor for ever: no t.Fatal inside one.
//   - Mailboxes are unbounded: the door in System bounds what is accepted and not yet committed.
package actors
