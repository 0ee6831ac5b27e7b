package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

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

	of func(replay.Result) int64
}

// Want says which of several values is the best.
type Want int

// The wants of a Figure.
const (
	Any  Want = iota // none is better than another
	Less             // the smallest is best
	More             // the largest is best
)

// Figures are the columns of a comparison, in order. Halts are not among them: HaltedAt tells them.
func Figures() []Figure {
	return []Figure{
		{"calls", "calls", "calls of the provider, openings of new observers included", Any, func(r replay.Result) int64 { return int64(r.Calls) }},
		{"respawns", "respawns", "observers replaced because of what they said", Less, func(r replay.Result) int64 { return int64(r.Respawns) }},
		{"restarts", "restarts", "observers started again after an exit", Any, func(r replay.Result) int64 { return int64(r.Restarts) }},
		{"observations", "obs.", "recorded observations that were stored", More, func(r replay.Result) int64 { return int64(r.Observations) }},
		{"summaries", "sum.", "recorded summaries that were stored", More, func(r replay.Result) int64 { return int64(r.Summaries) }},
		{"dropped_turns", "dropped", "turns whose output did not parse, given up", Any, func(r replay.Result) int64 { return int64(r.DroppedTurns) }},
		{"lost_batches", "lost", "inputs that no later turn saw again", Less, func(r replay.Result) int64 { return int64(r.LostBatches) }},
		{"recovered", "recovered", "inputs that a later turn carried to a good end", Any, func(r replay.Result) int64 { return int64(r.Recovered) }},
		{"held_batches", "held", "inputs that still wait at the end", Any, func(r replay.Result) int64 { return int64(r.HeldBatches) }},
		{"wasted_calls", "wasted calls", "openings, and turns that gave nothing", Less, func(r replay.Result) int64 { return int64(r.WastedCalls) }},
		{"wasted_tokens", "wasted tokens", "what the wasted calls cost", Less, func(r replay.Result) int64 { return r.WastedTokens }},
		{"flagged_commits", "flagged", "commits named that the repository did not have", Any, func(r replay.Result) int64 { return int64(r.FlaggedCommits) }},
	}
}

// Of returns the figure of r.
func (f Figure) Of(r replay.Result) int64 { return f.of(r) }

// Best returns the best value of f among the runs that came to their end, and whether there is one: where all are equal,
// none is better.
func (f Figure) Best(runs []Run) (best int64, ok bool) {
	runs = Finished(runs)
	if f.Want == Any || len(runs) == 0 {
		return 0, false
	}
	best = f.of(runs[0].Result)
	for _, r := range runs[1:] {
		v := f.of(r.Result)
		ok = ok || v != f.of(runs[0].Result)
		if f.Want == Less && v < best || f.Want == More && v > best {
			best = v
		}
	}
	return best, ok
}

// HaltedAt says when supervision first gave up, from the scenario's beginning; "-" if it never did.
func HaltedAt(r replay.Result) string {
	if r.HaltedAtMS == nil {
		return "-"
	}
	return Elapsed(*r.HaltedAtMS)
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

// Grouped writes a number with commas between its thousands.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
