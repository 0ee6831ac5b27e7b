// Command memory measures how good the memory is that cmemd makes of a session.
//
//	go run ./testkit/memory [--held] [-only NAME] [-observer extractive|good|sloppy] [-cmemd BINARY] [-set KEY=VALUE]... [-missed] [-json]
//
// The sessions and what a memory of each should hold are in testdata; its README says how they are annotated, and its manifest
// freezes them. Each transcript is taken in by a real daemon in a home of its own, and when all is settled it is asked of every fact:
//
//	kept   does one row of the session hold it?
//	told   does one line of what the next session would be given hold it?
//	found  does one of the first five results of a search by its question hold it?
//
// Percentages are by worth. Printed beside them are what is told as true though the session undid it, how many sentences of the
// context an earlier line says already, and what rows and context cost in tokens (characters / 4).
//
// The half that is marked as held is left alone until --held asks for it: no rule is tuned on it. Without -observer a session is
// observed by the built-in extractor; good and sloppy are models played by a script on loopback, which write what the facts say, or
// write it badly: the one shows what is lost behind a perfect observer, the other what a careless one costs. -set gives a daemon more
// settings, as recency=0 for search_recency's variable CMEMD_RECENCY.
//
// The files, each referring to those below it:
//
//	main.go, measure.go, observers.go, score.go, text.go, set.go
package main
