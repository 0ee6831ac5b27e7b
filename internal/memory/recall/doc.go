// Package recall answers: it searches memory, shows what happened around a moment, lays rows open with the chain of
// events they came from, and chooses what a new session is given.
//
// It reads views and the search index and writes nothing. An answer names the position of the log that it knew; a
// caller who needs to read its own writes gives After and waits. Rows that are folded into another, superseded or
// forgotten are in no answer, unless it is asked for as of an earlier position.
//
// # Three layers
//
// Search and Timeline give Items, about fifty tokens each, with what the whole row costs to read; Show gives whole
// rows; Why gives a row's chain back to the tool uses, the prompts and the memory the agent had been given.
//
// # Injection
//
// Context chooses by weight a character from the newest rows of a project, so its cost does not grow with the log. It
// leaves out what is flagged, never names more characters than asked for (counted as UTF-16 code units, the larger of
// the ways in which agents may count), and writes row text so that it cannot close the fence around it.
//
// # Files
//
// The files, each referring to those below it:
//
//	context.go, injected.go, load.go, weight.go, undone.go, newer.go, later.go, why.go, why_after.go, why_asof.go, why_types.go,
//	inputs.go, fit.go, render.go, order.go, request.go, said.go, statement.go, timeline.go, prompt.go, search.go, resultset.go, fold.go, files.go,
//	file.go, explain.go, entry.go, chooser.go, snippet.go, semantic.go, query.go, project.go, outside.go, phrase.go, overlap.go,
//	moment.go, list.go, item.go, budget.go, text.go, recall.go, fuse.go, cjk.go, ask.go
//
// # What bites
//
// Ids may be given as handles, which Context prints, or as any prefix of eight or more hex digits that only one row has.
package recall
