// Command retrieval measures how well searches find what a question asks for.
//
//	go run ./testkit/retrieval -docs DOCS -queries QUERIES [-half tune|held] [-cmemd BINARY] [-misses] [-json]
//	    [-embeddings URL -embeddings-model MODEL | -embeddings local] [-floor PERCENT]
//
// DOCS has one JSON object a line, {id, scope, session, date, text}; QUERIES has {id, scope, q, evidence}, where evidence
// are the ids of the documents that answer q. Documents become saved memories of a real daemon in a temporary home (the
// scope is the project, the date the time), and each question is asked through its HTTP API within its scope. Printed is,
// at 5, 10 and 20 results, recall (the part of the evidence that was found, averaged over the questions) and any (the part
// of the questions for which anything was found), and MRR, the mean of 1 / rank of the first evidence found.
//
// With -embeddings, searches look at vectors too, made by any OpenAI-compatible endpoint (whose key, if it wants one, stands in
// EMBEDDINGS_KEY), or by one that is made here of the documents themselves: no language model, but enough to see what fusion does.
//
// The set of this project is in testdata; a question belongs to the half that is tuned on, or to the one that is held
// back, by a hash of its id.
//
// The files, each referring to those below it:
//
//	main.go, measure.go, meaning.go, score.go, read.go
package main
