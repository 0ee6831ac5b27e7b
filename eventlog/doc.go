// Package eventlog keeps what happened: an append-only log of records, each in one stream, behind one interface. Open
// keeps a log in a bbolt file. testkit/logtest is the suite that it must pass.
//
// A Bolt file has two buckets, and a salvaged one a third; see Before. "log" maps the big-endian position to the record's
// stored form, so that it only ever grows at its end. "head" maps a stream to its version, the position of its last record and
// its chain; the records themselves point back to the one before in their stream. One goroutine writes: it takes whatever is
// queued, chains it, commits it and answers, so that groups grow with the load and no timer is needed. Encoding, hashing and
// compression happen in the caller's goroutine before that. What was committed is kept in memory for a while, for those who follow the
// log or ask for it by its position: All, Stream and Verify read the file.
//
// Every record is chained to the one before in its stream and names the hash of its payload, so Verify can tell a
// log that was tampered with or damaged. Erase removes payloads and leaves the chains whole.
//
// The files, each referring to those below it:
//
//	mark.go, events.go, export_read.go, export.go, end.go, readable.go, compact.go, scrub.go, remains.go, place.go, writer.go, stats.go,
//	verify.go, backup.go, iterate.go, before.go, found.go, read.go, bolt.go, queue.go, batch.go, relay.go, heads.go, recent.go,
//	arena.go, seal.go, open_locked.go, open.go, errors.go, disk.go, config.go, system_unix.go, system_other.go, log.go,
//	holder_linux.go, holder_other.go, feed.go
//
// What bites: a failed commit closes the log for good (ErrFailed, Done), because what the file holds is then unknown;
// the program must end. Bytes that were erased stay in unused pages of the file until they are written over; Compact
// and Backup leave them behind. The yielded records of a slice share one buffer.
package eventlog
