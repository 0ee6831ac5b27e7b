// Package salvage makes a log of what can still be read of a damaged one. Read finds the records in the bytes of the file, Write
// makes the new log, Replace puts it in the place of the damaged file.
//
// Records are found by their own form: a key and the stored record behind it name the same position, whichever page they lie in and
// whatever leads there. So nothing is lost with a page above them, and a page that was copied over another one gives its records too.
// The tree, as far as it can be reached, says which bytes are the log's present state: other pages hold older states, with payloads
// that were erased since, and appends that were never acknowledged.
//
// A record is believed if what can be checked of it agrees: its payload with the hash in its header, its header with the chain of
// its stream. One whose header alone is whole is kept as an erased one is. Copies of a record complete each other: the payload may be
// from one and the chain from another. What was erased stays so: where one copy of a record is erased all are, and what a MemoryForgotten
// names is never taken with its words, also where that lies behind the end that the tree says. A mark of erasure in front of the very
// payload that the header names is damage. Where nothing is left a placeholder stands (events.RecordLost), and the stream behind it is
// laid anew (eventlog.Relay).
//
// The files, each referring to those below it:
//
//	write.go     the new log
//	read.go      what a damaged file gives, in the order of the log
//	validate.go  which records are believed
//	scan.go      finds records in bytes
//	replace.go   puts a file in the place of another, which stays beside it
//
// What bites: the header of a record whose predecessor is lost or damaged is checked by nothing. A payload that was erased can come back
// where the erased record and the MemoryForgotten that names it are both lost and the file was not compacted since; Config.Forgotten helps
// there. One that was withheld can too; its owner has it all the same, and what the owner forgets is erased in copies by name. In an old
// copy of a record, two damages, one that makes a mark of erasure and one of the payload, erase the present one: a mark that is nowhere
// else may be what is left of an erasure that a lost write undid.
package salvage
