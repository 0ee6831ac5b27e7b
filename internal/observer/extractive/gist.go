package extractive

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/internal/sentence"
)

// maxGist is how many lines of a command's output a fact quotes.
const maxGist = 2

// A printedGist is what of the outputs of one command a person would note though it went well.
type printedGist struct {
	by      run      // the newest that printed such a thing
	noted   []string // lines that call themselves a warning or an error, those of the newest run first
	counted string   // the last line that counts or measures something
}

func (g printedGist) String() string {
	if g.counted == "" {
		return strings.Join(g.noted, "; ")
	}
	return strings.Join(append(slices.Clip(g.noted), g.counted), "; ")
}

// gistsOf are those of the commands of a family, the newest first, at most maxGist. A warning is noted once, but for its numbers,
// whichever command printed it. What was printed before the family failed last is not noted.
func (w *work) gistsOf(family string) (all []printedGist) {
	var warned []string
	var end outcome // of the newest run that said how it ended
	for _, r := range slices.Backward(w.runs) {
		if r.family != family {
			continue
		}
		if end == unknown {
			end = r.runOutcome
		}
		if end == failed || r.runOutcome == failed || r.output == "" {
			continue
		}
		labelled, counted := r.gist()
		labelled = slices.DeleteFunc(labelled, func(l string) bool { return slices.Contains(warned, withoutNumbers(l)) })
		at := slices.IndexFunc(all, func(g printedGist) bool { return shown(g.by) == shown(r) })
		if at < 0 {
			if len(all) == maxGist || counted == "" && len(labelled) == 0 {
				continue
			}
			at, all = len(all), append(all, printedGist{by: r})
		}
		g := &all[at]
		g.counted = cmp.Or(g.counted, counted)
		for _, l := range labelled {
			if bare := withoutNumbers(l); len(g.noted) < maxGist && !slices.Contains(warned, bare) {
				g.noted, warned = append(g.noted, l), append(warned, bare)
			}
		}
	}
	return all
}

// gist are the first lines of r's output that call themselves a warning or an error, and the last line that counts something, or of a
// command that measures the last with a unit.
func (r run) gist() (warnings []string, countLine string) {
	label, measures := "", isMeasurement(r.commandLine)
	for l := range strings.Lines(unwrap(clean(r.output), false)) {
		l = line(strings.Trim(l, " \t\n│┃|╭╮╰╯─━═+-*>"))
		switch {
		case sentence.Letters(l) < 4 || len(l) > maxPrinted:
			continue
		case callsWarning(l) && !strings.Contains(l, " "):
			label = l + " " // of a box, or of a paragraph below it
			continue
		case callsWarning(l) || label != "":
			if len(warnings) < maxGist {
				warnings = addOnce(warnings, cut(label+l, maxProblem))
			}
		case isCountLine(l, measures):
			countLine = cut(l, maxProblem)
		}
		label = ""
	}
	if len(warnings) > 0 && r.runOutcome == unknown {
		if p := problem(r.output); p != "" {
			warnings = []string{p}
		}
	}
	return warnings, countLine
}

// isMeasurement is for command lines that are there to time or to measure something.
func isMeasurement(command string) bool {
	for w := range strings.FieldsSeq(command) {
		switch w = strings.Trim(w, "'\"();"); w {
		case "time", "hyperfine", "perf", "wrk", "ab", "du", "size":
			return true
		}
		if strings.Contains(strings.ToLower(w), "bench") || strings.HasPrefix(w, "-cover") || strings.HasPrefix(w, "--cov") {
			return true
		}
	}
	return false
}

// callsWarning is for lines with a word among the first by which programs mark what a person should see: one that no language has, or
// the first of all, or in capitals, or before a colon.
func callsWarning(l string) bool {
	for i, w := range strings.Fields(l) {
		bare := strings.Trim(w, ":[]()!*")
		switch strings.ToLower(bare) {
		case "warn":
			return true
		case "warning", "error", "fatal", "deprecated", "panic", "caution":
			return i == 0 || bare == strings.ToUpper(bare) || strings.HasSuffix(w, ":")
		}
		if i == 4 {
			break
		}
	}
	return false
}

// isCountLine is for lines with a number beside the word for what was counted, or with its unit: "3 failed", "12 passed", "0.868 total",
// "coverage: 81.2%". That there is none of something says no more than that the command went well.
func isCountLine(l string, measures bool) bool {
	words := strings.Fields(l)
	for i, w := range words {
		w = strings.Trim(w, ",.;:()[]=")
		number := strings.TrimRightFunc(w, func(r rune) bool { return unicode.IsLetter(r) || r == '%' })
		if strings.Trim(number, "0.,") == "" || strings.Trim(number, "0123456789.,") != "" {
			continue
		}
		if measures && isUnit(w[len(number):]) || i+1 < len(words) && w == number && isCounted(strings.Trim(words[i+1], ",.;:()[]=")) {
			return true
		}
	}
	return false
}

// isUnit is for the units in which programs tell how long or how large something was.
func isUnit(s string) bool {
	switch s {
	case "%", "s", "ms", "µs", "us", "ns", "B", "KB", "kB", "MB", "GB", "KiB", "MiB", "GiB":
		return true
	}
	return false
}

// isCounted is for what test runners, linters and timers count, in the words that their output has in any language.
func isCounted(s string) bool {
	switch strings.ToLower(s) {
	case "passed", "passing", "failed", "failing", "failures", "failure", "errors", "error", "warnings", "warning", "skipped", "pending", "tests", "test",
		"specs", "examples", "assertions", "issues", "problems", "vulnerabilities", "total", "real", "elapsed", "seconds", "ms":
		return true
	}
	return false
}

// withoutNumbers is a line without its digits: of two such lines only the figures differ.
func withoutNumbers(l string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, l)
}
