// Package engine keeps views of the log in one bbolt file that can be deleted at any time, because the log rebuilds it to
// the same content. It knows no view: a View hands it folds and tables, and package projections has all of them.
//
// The files, each referring to those below it:
//
//	compare.go     sets views beside others of the same log
//	inspect.go     lays views open to people
//	rebuild.go     makes single views anew beside their live copies
//	run.go         follows the log, applies slices of records, makes a damaged file anew
//	forget.go      takes out what records of other machines said, once they are erased
//	folding.go     a fold on one copy of a view
//	read.go        what readers of views share: places before a key, beginnings of ids
//	facts.go       what sessions' openings say, for the views that repeat it
//	merge.go       what several machines said, in one order
//	traits.go      kinds that folds know, and those whose words may be forgotten
//	checkpoint.go  how far each view is, and whether it can be gone on with
//	compact.go     writes the file anew without what was deleted
//	views.go       Open, Close, reading in a transaction, waiting for a position
//	retry.go       tries again, with growing pauses, what could not be done
//	progress.go    how far something has come along the log, also for indexes that are kept elsewhere
//	table.go       tables of a view, and the cache of those that a slice changes
//	cursor.go      the entries of a table in their order, each held against its checksum
//	aside.go       an old file that a log does not explain is kept
//	store.go       the open file of the views, and whether it can be trusted
//	mark.go        whether its last stop was clean, and whether it is as it was left then
//	view.go        what a view is, and a record as folds see it
//	file.go        one bbolt file, whose damage is an error; also for views that are kept elsewhere
//	verify.go      whether the pages of the file are whole, and its values
//	sum.go         the checksum behind each value
//	follow.go      the log in slices, also for indexes that are kept elsewhere
//	codec.go       the form of stored values and keys
//	packed.go      values that do without CBOR
//	origin.go      whose records are folded, and what others' folders are called here
//
// What bites: the file is not synced; after a stop that was not clean it is checked, and rebuilt where a check cannot vouch
// for it (see Config.BootID). A value is held against its checksum each time that it is read; what of a page is no key and no
// value is looked at when the file is opened alone. Keys and raw values belong to their transaction, which keeps its first error: after it there is
// nothing to be read, and folds and readers need not ask. A fold must give the same bytes whether it
// saw a payload before it was erased or not.
package engine
