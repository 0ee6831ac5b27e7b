// Package index is the view that finds memory by its words: an inverted file over observations, summaries, saved
// memories and prompts, kept in bleve's segment store (scorch) and ranked by BM25 written here.
//
// The index can be deleted at any time: it is made from the log alone, keeps its own checkpoint in the batch that
// moves it, and starts anew when it finds itself older, newer, damaged or beside another log. It stores no text, only
// terms; rows are read from the views, which also say what has been superseded since.
//
// # Words
//
// Text becomes lower-case words without diacritics, stemmed as English where they are plain ASCII letters. Identifiers
// are kept whole and split (sessionStore, session_store and session-store are one word and its two parts), so are
// paths, file names and flags; scripts that do not put spaces between words become overlapping pairs. Stop words are
// in the index and leave the query, unless there is nothing else in it.
//
// English forms that no stemmer knows, what developers shorten, and the two spellings of English come to one term.
//
// # Rank
//
// A document matches if it holds any word of the query, or two or three of its neighbouring words written as one. Its
// score is BM25 over one text field in which a title's words count three times, a little more where it is recent, plus
// what its whole session holds of the query, lowered for long sessions, plus a little of what stands next to it, plus
// what a date is worth that the query names; an Explanation says what each gave. Scoring is done here over scorch's
// postings, not by bleve's searchers: at v2.6.1 their BM25 takes the square root of the term frequency and divides the
// number of distinct terms, not of all terms, by the number of documents to get the average length, which punishes
// every document longer than a sentence. Times, positions and sessions are read from the documents' names into columns
// once a segment.
//
// # What bites
//
// A batch is visible at once and on disk within about a second (one synced file a batch would cost the log its rate):
// after a crash the checkpoint is older, and the difference is applied again from the log. What is forgotten leaves
// every answer at once, and the segment files when Run, which begins at once too, has made the index anew.
//
// The files, each referring to those below it:
//
//	compare.go, passing.go, rootless.go, facet.go, rank.go, files.go, filter.go, kinds.go, bound.go, explain.go, score.go,
//	search.go, run.go, dates.go, terms.go, index.go, build.go, store.go, trust.go, document.go, words.go,
//	english.go, columns.go, runes.go, ref.go
package index
