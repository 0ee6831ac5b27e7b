// Package importer takes in what another memory kept: sessions, prompts, tool uses, observations and summaries.
//
// An Entry is one row of that memory, whatever it is called there; Converter makes session.Capture of entries. What comes of
// them is truthful about whose work it was:
//
//	session      SessionOpened{source import}, and SessionClosed where it has ended
//	prompt       PromptSubmitted
//	tool_use     ToolUsed, unobserved: another memory has observed it, so that nothing is owed for it here
//	observation  ObservationParsed with a Source and without a turn: it settles nothing and cost nothing here
//	summary      SummaryParsed, the same
//
// Sessions have the ids that hooks and transcripts give them, and tool uses their keys, so that what was captured besides is
// not recorded twice. Entries have keys that follow from their session and their name in the other memory: importing again
// records only what is new. Files of an observation are unverified: no tool use of ours says that they were touched. Commits
// that it names are claims of which nothing is known yet; `cmemd recheck` looks.
//
// The files, each referring to those below it:
//
//	convert.go, key.go, entry.go
//
// What bites: the entries of one session must come together, its session entry first and the others by time, because
// prompts are numbered in their order. Prompts have no name that a hook or transcript shares, so they are left out of a
// session that was captured besides; a transcript that is read after an import brings its prompts again.
package importer
