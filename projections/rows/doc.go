// Package rows has the views whose rows are pieces of memory: prompts, observations, summaries and memories. They share
// one fold and one set of tables, under four names: each is listed, inspected and rebuilt by itself.
//
// The files, each referring to those below it:
//
//	review.go      lists and counts rows of a state
//	lists.go       goes through rows of several kinds in the order of time
//	glance.go      whether rows are listed and may hold words, without reading the rest of them
//	read.go        rows by id, session, turn and position
//	fold.go        makes rows of events, and takes them away
//	hidden.go      which rows an agent has asked to forget
//	supersede.go   what takes the place of a row, and what lets it stand again
//	decided.go     what a row is once all machines have decided of it
//	duplicates.go  rows of a session that say the same are one, and preferences of a project
//	succeed.go     has the newest summary of a session take the place of the others
//	store.go       a row in its table and in its lists
//	view.go        the four views, and what each makes of a record
//	tables.go      the tables, and what they hold beside rows
//	newest.go      which summary of a session stands
//	entry.go       which rows readers take for one thing
//	handle.go      the short name of a row
//	state.go       what a person may want to look at a row for
//	row.go         a row, and the verdicts on its claims
//
// What bites: rows belong to the caller. What was forgotten leaves nothing but its id, in the view of memories. Which rows
// are folded, superseded or forgotten is decided here alone.
package rows
