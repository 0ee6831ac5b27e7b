// Package union lets a machine read the logs of others together with its own. It is a package below eventlog, which is
// one log: here several are kept, and put into one order.
//
// A copy of another log is a log itself: an eventlog.Bolt in Config.Dir, filled by Restore, so that what checks,
// reads, erases, compacts and verifies a log does all that for a copy. Its records are as their log has them. Beside
// the copies there is a journal: it says which stretches of which log follow each other, what waits for records that
// it names, and what was erased. Nothing is noted of the own log's records: they stand between the others', each
// behind all that was here as it was committed. So a home that never joins others has no file of this package, and its
// Union is its own log: same positions, same records.
//
// A reader of the Union sees records moved (see events.Record.Moved): their positions, and those in their events, are
// the union's; recorded_at is when they became known here, to the minute; events.Record.Place says whose they are. The
// order has no gaps, and never changes behind a reader's back: what is in it has its place on disk before anybody sees
// it. It extends the order of every log. What a record names of another log stands before it, unless that did not come
// within Config.Wait.
//
// A record that two logs have at one position has one place: where a home was copied, or restored from a backup, and goes on as another
// log, both logs begin with the same records (twins.go). Whichever came first gives them their place.
//
// Add takes records first, then their place: after a crash between the two they wait as if nobody knew what they name.
// Erase is noted first, then done.
//
// The files, each referring to those below it:
//
//	write.go, read.go, trim.go, add.go, open.go, reorder.go, erase.go, twins.go, copies.go, view.go, union.go, merge.go, fold.go, journal.go,
//	errors.go, order.go
//
// What bites: whoever asks by way of Log where an own record stands, as a receipt does, waits while others' records are
// written to the journal: as long as one more write to disk. Only then is it known. An order that is lost, or that is not of
// these logs, is made anew by Open, and then positions mean other records; whoever keeps positions (views, cursors) keeps ID
// beside them. What the own log's records say of positions must be the own log's: At and Where translate. One process has the
// copies open, as it has the log.
package union
