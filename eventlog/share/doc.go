// Package share carries logs between the machines of a space by a store that reads nothing of them. Each machine's log has that
// machine alone as its writer; the others keep copies. No agreement is needed, no machine waits for another, and what a hook costs
// does not depend on any of this.
//
// A Share follows the own log and puts what is new into the store as sealed segments (ship.go); it takes what other machines put
// there into copies (fetch.go); it carries requests to forget, has them done here, and seals segments of the store anew without
// what was forgotten (notes.go, clean.go); and it reports what it read and did, so that each machine can say of all others how
// far they are (report.go, status.go).
//
// Exactly once is by keys: a segment lies under the number of its first record, created once and never deleted. Where one is there
// already its link tells whether it holds the own records, of which the answer was lost, or another's: then two machines write one
// log, because a home was copied or restored, and this one goes on as a log of its own (branch.go). A segment that was sealed anew
// has the next edition; the one before stays as an empty body, so that nobody can create it again.
//
// Keys in the store, behind the space's id: now/space, now/head/LOG, now/forget/ID and now/seen/MACHINE change and are watched;
// log/LOG/FIRST.EDITION are segments; key/EPOCH/MACHINE is package space's.
//
// The files, each referring to those below it:
//
//	run.go, status.go, verify.go, rounds.go, fetch.go, notes.go, clean.go, report.go, ship.go, adopt.go, branch.go, heal.go, editions.go,
//	unread.go, batches.go, links.go, share.go, problems.go, state.go, keys.go, statement.go
//
// What bites:
//   - A segment that another machine cannot verify, or that is missing, stops that log's copy alone. The reader says so in its
//     report, and the owner puts it there again while its disk has the records.
//   - An owner's erased record may still be in the store until the owner, or who asked, was connected once.
//   - A machine that is on hears of a change by the store's watch; a change that the watch missed is found within Config.Poll.
package share
