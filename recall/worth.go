package recall

import (
	"math"
	"path"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
)

// section is where a piece stands in the text.
type section int

const (
	secLast     section = iota // the newest summary, at length
	secNext                    // open next steps of other sessions
	secMemories                // saved by hand
	secWork                    // observations, other summaries and prompts by day
	sections
)

// piece is a row in one of the forms in which it may be told.
type piece struct {
	row    projections.Row
	sec    section
	worth  float64
	text   string // without its id
	at     time.Time
	chosen bool
	why    string
}

const (
	// halfLife is how long it takes for a row's worth to halve; what was saved by hand fades slower.
	halfLife       = 10 * 24 * time.Hour
	memoryHalfLife = 90 * 24 * time.Hour

	// What a row is worth beside an ordinary observation, when it is new.
	worthLast   = 12.0
	worthNext   = 3.0
	worthMemory = 3.0
	worthDone   = 1.3 // a summary that is not the newest
	worthPrompt = 0.35

	// fileFactor raises observations on files that were changed lately.
	fileFactor = 1.25

	// nextSteps is how many older sessions' next steps are looked at, and maxNextAge how old they may be: older ones are
	// rarely still open.
	nextSteps  = 3
	maxNextAge = 14 * 24 * time.Hour
)

// typeWorth is what an observation is worth by its type; all others count 1.
func typeWorth(t string) float64 {
	switch t {
	case "decision":
		return 1.5
	case "security_alert", "security_note", "sensitive":
		return 1.4
	case "bugfix", "feature":
		return 1.2
	case "refactor":
		return 0.9
	case "change":
		return 0.8
	}
	return 1
}

// offerAll makes the pieces, the worthiest first for their length.
func (c *chooser) offerAll() {
	fresh := c.newest()
	changed := c.changedFiles()
	answered := c.answered()
	last, next := events.ID{}, map[events.SessionID]bool{}
	for _, row := range c.rows {
		why := c.unfit(row)
		if why == "" && row.Kind == projections.Prompt && answered[asked{row.Session, row.Prompt}] {
			why = "what came of it says it"
		}
		if why != "" {
			c.pieces = append(c.pieces, &piece{row: row, why: why, at: row.At})
			continue
		}
		age := fresh.Sub(row.At)
		switch row.Kind {
		case projections.Summary:
			if last == (events.ID{}) {
				last = row.ID
				next[row.Session] = true
				c.add(&piece{row: row, sec: secLast, worth: worthLast, text: c.lastSummary(row)})
				continue
			}
			if row.NextSteps != "" && !next[row.Session] && len(next) <= nextSteps && age < maxNextAge {
				next[row.Session] = true
				c.add(&piece{row: row, sec: secNext, worth: worthNext * fade(age, halfLife), text: c.nextLine(row)})
				continue
			}
			c.add(&piece{row: row, sec: secWork, worth: worthDone * fade(age, halfLife), text: c.workLine(row)})
		case projections.Memory:
			c.add(&piece{row: row, sec: secMemories, worth: worthMemory * fade(age, memoryHalfLife), text: c.workLine(row)})
		case projections.Prompt:
			c.add(&piece{row: row, sec: secWork, worth: worthPrompt * fade(age, halfLife), text: c.workLine(row)})
		default:
			worth := typeWorth(row.Type) * fade(age, halfLife) * (1 + math.Log2(float64(max(1, row.Count)))/4)
			if slices.ContainsFunc(row.FilesModified, func(f string) bool { return changed[path.Base(f)] }) {
				worth *= fileFactor
			}
			c.add(&piece{row: row, sec: secWork, worth: worth, text: c.workLine(row)})
		}
	}
	slices.SortStableFunc(c.pieces, func(a, b *piece) int { return compareFloat(b.density(), a.density()) })
}

// asked names a user's prompt.
type asked struct {
	session events.SessionID
	number  int
}

// answered returns the prompts that led to a row which may be told itself.
func (c *chooser) answered() map[asked]bool {
	led := map[asked]bool{}
	for _, row := range c.rows {
		if row.Kind != projections.Prompt && row.Prompt > 0 && c.unfit(row) == "" {
			led[asked{row.Session, row.Prompt}] = true
		}
	}
	return led
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (c *chooser) add(p *piece) {
	p.at = p.row.At
	c.pieces = append(c.pieces, p)
}

// density is the piece's worth a character. The newest summary comes first whatever its length.
func (p *piece) density() float64 {
	if p.sec == secLast {
		return math.Inf(1)
	}
	return p.worth / float64(size(p.text)+lineExtra)
}

// lineExtra is what a line costs beside its text: the id, the time and the marks, about.
const lineExtra = 28

// newest is the time against which rows are old: the hook's, or if that is not given the newest row's.
func (c *chooser) newest() time.Time {
	if !c.ask.Now.IsZero() {
		return c.ask.Now
	}
	var t time.Time
	for _, row := range c.rows {
		if row.At.After(t) {
			t = row.At
		}
	}
	return t
}

// fade halves every half life; what lies in the future is new.
func fade(age, half time.Duration) float64 {
	return math.Exp2(-max(0, float64(age)) / float64(half))
}

// changedFiles names the files that were changed lately.
func (c *chooser) changedFiles() map[string]bool {
	names := map[string]bool{}
	for _, f := range c.files {
		names[path.Base(f.Path)] = true
	}
	return names
}

// unfit says why a row is not told at all; empty: it may be.
func (c *chooser) unfit(row projections.Row) string {
	switch {
	case !row.Listed():
		return "superseded or forgotten"
	case row.Flagged:
		return "flagged: a claim that is not true, or files that nobody touched"
	case c.since > 0 && row.Position <= c.since:
		return "told before"
	case c.ask.Source == "resume" && !c.ask.Session.IsZero() && row.Session == c.ask.Session:
		return "the session's own"
	}
	return ""
}
