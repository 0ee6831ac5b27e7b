package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
)

// Run is what one policy made of the scenario.
type Run struct {
	Policy string
	Result replay.Result
}

// Finished returns those of runs that came to their end: the figures of the others say nothing beside theirs.
func Finished(runs []Run) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Result.Error != "" })
}

// Figure is one column of a comparison.
type Figure struct {
	Key  string // as JSON names it
	Head string // over a column, short
	Note string // what it counts
	Want Want
	None int64 // the value of a policy of which there is nothing to say

	valueOf func(replay.Result) int64
	text    func(v int64) string // nil: number.Grouped
}

// Want says which of several values is the best.
type Want int

// The wants of a Figure.
const (
	Any  Want = iota // none is better than another
	Less             // the smallest is best
	More             // the largest is best
)

// Figures are the columns of a comparison, in order. Halts stand after the restarts that led to them.
func Figures() []Figure {
	return []Figure{
		{Key: "calls", Head: "calls", Note: "calls of the provider, openings of new observers included", Want: Any, valueOf: func(r replay.Result) int64 { return int64(r.Calls) }},
		{Key: "respawns", Head: "respawns", Note: "observers replaced because of what they said", Want: Less, valueOf: func(r replay.Result) int64 { return int64(r.Respawns) }},
		{Key: "restarts", Head: "restarts", Note: "observers started again after an exit", Want: Any, valueOf: func(r replay.Result) int64 { return int64(r.Restarts) }},
		{
			Key: "halted_at_ms", Head: "halted at", Note: "when supervision first gave up", None: neverHalted, valueOf: haltedAt, text: haltText,
		},
		{Key: "observations", Head: "obs.", Note: "recorded observations that were stored", Want: More, valueOf: func(r replay.Result) int64 { return int64(r.Observations) }},
		{Key: "summaries", Head: "sum.", Note: "recorded summaries that were stored", Want: More, valueOf: func(r replay.Result) int64 { return int64(r.Summaries) }},
		{Key: "dropped_turns", Head: "dropped", Note: "turns whose output did not parse, given up", Want: Any, valueOf: func(r replay.Result) int64 { return int64(r.DroppedTurns) }},
		{Key: "lost_batches", Head: "lost", Note: "inputs that no later turn saw again", Want: Less, valueOf: func(r replay.Result) int64 { return int64(r.LostBatches) }},
		{Key: "recovered", Head: "recovered", Note: "inputs that a later turn carried to a good end", Want: Any, valueOf: func(r replay.Result) int64 { return int64(r.Recovered) }},
		{Key: "held_batches", Head: "held", Note: "inputs that still wait at the end", Want: Any, valueOf: func(r replay.Result) int64 { return int64(r.HeldBatches) }},
		{Key: "wasted_calls", Head: "wasted calls", Note: "openings, and turns that gave nothing", Want: Less, valueOf: func(r replay.Result) int64 { return int64(r.WastedCalls) }},
		{Key: "wasted_tokens", Head: "wasted tokens", Note: "what the wasted calls cost", Want: Less, valueOf: func(r replay.Result) int64 { return r.WastedTokens }},
		{Key: "flagged_commits", Head: "flagged", Note: "commits named that the repository did not have", Want: Any, valueOf: func(r replay.Result) int64 { return int64(r.FlaggedCommits) }},
	}
}

// Of returns the figure of r.
func (f Figure) Of(r replay.Result) int64 { return f.valueOf(r) }

// Text returns the figure of r for people.
func (f Figure) Text(r replay.Result) string {
	if f.text != nil {
		return f.text(f.valueOf(r))
	}
	return number.Grouped(f.valueOf(r))
}

// neverHalted stands for the time of a halt where there was none.
const neverHalted = -1

func haltedAt(r replay.Result) int64 {
	if r.HaltedAtMS == nil {
		return neverHalted
	}
	return *r.HaltedAtMS
}

// haltText says when supervision first gave up, from the scenario's beginning; "-" if it never did.
func haltText(ms int64) string {
	if ms == neverHalted {
		return "-"
	}
	return Elapsed(ms)
}

// Best returns the best value of f among the runs that came to their end, and whether there is one: where all are equal,
// none is better.
func (f Figure) Best(runs []Run) (best int64, ok bool) {
	runs = Finished(runs)
	if f.Want == Any || len(runs) == 0 {
		return 0, false
	}
	best = f.valueOf(runs[0].Result)
	for _, r := range runs[1:] {
		v := f.valueOf(r.Result)
		ok = ok || v != f.valueOf(runs[0].Result)
		if f.Want == Less && v < best || f.Want == More && v > best {
			best = v
		}
	}
	return best, ok
}

// Elapsed writes milliseconds as people say them, with at most two units: 480 ms, 48 s, 4 min 30 s, 6 d 2 h.
func Elapsed(ms int64) string {
	if ms < 0 {
		return "-" + Elapsed(-max(ms, -1<<62))
	}
	if ms < 1000 {
		return strconv.FormatInt(ms, 10) + " ms"
	}
	rest, words := ms, make([]string, 0, 2)
	for _, u := range units() {
		n := rest / u.ms
		rest %= u.ms
		if n > 0 {
			words = append(words, strconv.FormatInt(n, 10)+" "+u.name)
		}
		if len(words) == 2 || len(words) == 1 && n == 0 {
			break
		}
	}
	return strings.Join(words, " ")
}

type unit struct {
	ms   int64
	name string
}

func units() []unit {
	return []unit{
		{24 * time.Hour.Milliseconds(), "d"}, {time.Hour.Milliseconds(), "h"}, {time.Minute.Milliseconds(), "min"},
		{time.Second.Milliseconds(), "s"},
	}
}
