package extractive

import (
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// maxFailing is how many failures a summary names, the last ones.
const maxFailing = 3

// reported is how a command went, as a fact says.
type reported struct {
	step    step
	at      int // of the observation that says so
	failed  bool
	unknown bool   // how it ended was not reported
	line    string // that it printed, of its failure where it failed
	text    string
}

// failing are the facts about commands that failed last, and were not seen to go well since: tests, and whatever else failed in the
// last of the observations that say how a command went. What failed long before on the way, and was left alone, fails no more.
func failing(observed []events.ObservationParsed) []string {
	var all []reported
	for i, o := range observed {
		for _, f := range slices.Backward(o.Facts) { // of one command's failures the newest stands first
			if r, ok := readFact(line(clean(f))); ok {
				r.at = i
				all = append(all, r)
			}
		}
	}
	var open []string
	last := 0
	for _, r := range all {
		if !r.unknown {
			last = r.at
		}
	}
	for i, r := range all {
		if r.failed && (r.step.IsTest() || r.at == last) && !passes(all[i+1:], r) {
			open = addOnce(open, "Failed last: "+cut(r.text, maxFact))
		}
	}
	return open[max(0, len(open)-maxFailing):]
}

// passes reports whether what was reported later says that r's command went well, or failed again and is reported there, or that it was run in
// later work: how that ended is not known, unless it printed the same failure.
func passes(later []reported, r reported) bool {
	for _, other := range later {
		if other.unknown && (other.at == r.at || holds(other.line, r.line)) {
			continue // it may have been run before, or failed again
		}
		if akin(other.step.family(), r.step.family()) && meet(pathOperands(other.step), pathOperands(r.step)) {
			return true
		}
	}
	return false
}

// pathOperands are the files and folders that a command names: the packages whose tests it runs.
func pathOperands(s step) (list []string) {
	for _, w := range s.operands() {
		if strings.ContainsAny(w, "./") && !strings.HasPrefix(w, "-") {
			list = append(list, strings.TrimRight(w, "/"))
		}
	}
	return list
}

// meet tells whether two commands may be about the same place: one names none, or a whole tree, or both name one, or what lies in it.
func meet(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	for _, x := range a {
		for _, y := range b {
			if x == y || x == "." || y == "." || strings.HasSuffix(x, "...") || strings.HasSuffix(y, "...") ||
				strings.HasPrefix(x, y+"/") || strings.HasPrefix(y, x+"/") || strings.HasPrefix(x, y+"::") || strings.HasPrefix(y, x+"::") {
				return true
			}
		}
	}
	return false
}

// readFact reads a fact that failureFact or endFact wrote. ok is false for others.
func readFact(f string) (r reported, ok bool) {
	bare, isUnknown := strings.CutPrefix(f, "Ran ")
	if !strings.HasPrefix(bare, "`") {
		return reported{}, false
	}
	command, how, closed := strings.Cut(bare[1:], "`")
	all := steps(evidence.Split(command))
	if !closed || len(all) == 0 || len(all[0].words) == 0 {
		return reported{}, false
	}
	how, printed, _ := strings.Cut(strings.TrimPrefix(how, " "), printedAfter)
	r = reported{step: all[len(all)-1], unknown: isUnknown, line: printed, text: f}
	switch {
	case r.step.onlyReads() || r.step.runsInline():
		return reported{}, false
	case isUnknown:
	case strings.HasPrefix(how, "failed"):
		_, r.line, _ = strings.Cut(how, ": ")
		r.failed = !strings.HasSuffix(f, passedLater) && !strings.HasSuffix(f, passedAfter) && !strings.HasSuffix(f, ranLater)
	case how != "passed" && how != "succeeded":
		return reported{}, false
	}
	return r, true
}
