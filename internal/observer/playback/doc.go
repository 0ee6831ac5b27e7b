// Package playback is the provider that plays a script: a file that says, call by call, what a model or its transport
// would have answered. It shows a daemon under trouble in a demo, brings a reported loop back to life, and stands in for
// a model in tests that go through a real process.
//
// A script is JSON, one object a line. Blank lines, and lines that begin with #, say nothing. The first line may be a
// header, which counts as version 1 of the form and sets what the provider says of itself:
//
//	{"playback": 1, "model": "weekly", "wish": {"max_inputs": 20, "max_bytes": 49152, "max_age_ms": 300000}}
//
// where "fixed": true in the wish says that a fresh observer would answer the same. Each other line is a step, which does
// exactly one of these:
//
//	{"text": "<observation>...", "form": "xml", "stop_reason": "end_turn", "usage": {"input": 1500, "output": 36}}
//	{"failure": {"class": "limit", "status": 429, "resets_in_ms": 3600000, "message": "...", "output": "..."}}
//	{"crash": "exit status 1"}          an error that is no typed failure
//	{"panic": "index out of range"}
//	{"hang": true}                      no answer until the call is cancelled
//
// where a usage, which a failure may have too, says what was paid: "input", "cached" and "output" in tokens, "cost" in US
// dollars, "calls" that were made, and the "model" that answered; a failure's output may have its "form". A step may also
// say when, how late, and how often:
//
//	"when": {"kind": "summary", "contains": "poison.go", "call": 3, "from_ms": 500, "until_ms": 9000}
//	"delay_ms": 250
//	"repeat": 4, or "forever"
//
// All that a when gives must hold: contains is looked for in what the turn settles, call is counted from 1, and times from
// the first call on.
//
// A call takes the first step of the file that is not used up and whose when holds. A step with a when is never used up,
// one without is after one call, unless repeat says otherwise. So a rule that stands above a sequence goes before it, and
// what no rule wants falls to the sequence. Where no step is left the answer is a typed setup failure: inputs are held,
// and nothing is made up.
//
// The files, each referring to those below it:
//
//	provider.go, write.go, read.go, line.go, script.go, object.go
//
// What bites: which of two calls at once takes the next step of a sequence is a race between them; with one slot, or with
// rules alone, a run can be repeated. A daemon that starts again begins the script again.
package playback
