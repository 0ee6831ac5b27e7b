package extractive

import (
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/internal/sentence"
)

const (
	maxFact       = 300 // graphemes
	maxShown      = 140 // of a command
	maxProblem    = 160 // of an error
	maxNamed      = 6   // files named in one fact
	maxPassedRuns = 4   // commands that simply went well

	maxFailures = 3 // of one family of commands that are told
)

// The ranks of facts: what a person would look for first.
const (
	rankCommit      = 100
	rankTest        = 90
	rankOpen        = 85 // a failure that stayed
	rankAnswer      = 80
	rankSolved      = 75 // a failure that was overcome
	rankComment     = 72
	rankReport      = 71
	rankFiles       = 70
	rankMute        = 65 // subagents that reported nothing
	rankTodo        = 60
	rankUncommitted = 58 // what is not committed
	rankPush        = 55
	rankPrinted     = 45 // a command that told something
	rankFetched     = 40
	rankRan         = 30
	rankServer      = 25
	rankEmptySearch = 22
	rankSearched    = 20
	rankRefused     = 10 // a failed call that is no command
)

// What ends the fact about a failure that did not stay, or may not have; a summary knows it by that.
const (
	passedLater = "; passed later"
	passedAfter = "; passed after changes"
	ranLater    = "; run again later, its end was not reported"
)

// printedAfter stands between how a command went well and what it printed.
const printedAfter = ", and printed: "

// fact is a statement about the work.
type fact struct {
	rank          int
	text          string
	withoutOutput string // the same without what was printed
	why           string // what of text says why, or of what to beware; it may stand in the subtitle instead
	bare          string // text without why; empty: nothing is left
}

// factList is what is stated, in no order.
type factList []fact

func (l *factList) add(rank int, format string, args ...any) {
	s := cut(line(fmt.Sprintf(format, args...)), maxFact)
	*l = append(*l, fact{rank: rank, text: s, withoutOutput: s})
}

// quote adds a statement that what was printed stands behind, before how it ended.
func (l *factList) quote(rank int, statement, printed, suffix string) {
	*l = append(*l, fact{rank: rank, text: cut(line(statement+printed+suffix), maxFact), withoutOutput: cut(line(statement+suffix), maxFact)})
}

// explain adds a statement with what says why behind it; bare is the statement alone.
func (l *factList) explain(rank int, bare, why string) {
	why = cut(line(why), maxFact)
	text := why
	if bare = cut(line(bare), maxFact); why == "" {
		text = bare
	} else if bare != "" {
		text = cut(bare+" — "+why, maxFact)
	}
	*l = append(*l, fact{rank, text, text, why, bare})
}

// titleText is the first thing that a raw text says.
func titleText(s string) string { return titleOf(blocks(unwrap(clean(s), false))) }

// firstLine is the first line of a raw text that says anything, with what it leads to.
func firstLine(s string) string {
	said := ""
	for l := range strings.Lines(unwrap(clean(s), false)) {
		if l = line(l); sentence.Letters(l) >= 4 {
			if said = strings.TrimSpace(said + " " + l); !strings.HasSuffix(l, ":") || len(said) > maxProblem {
				break
			}
		}
	}
	return cut(said, maxProblem)
}

func cleanAll(list []string) []string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = cut(line(clean(s)), maxTitle)
	}
	return all
}

// enumerate names the first n of list and counts the rest.
func enumerate(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}
