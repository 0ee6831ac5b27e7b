package recall

import (
	"math"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/injections"
	"github.com/cmemd/cmemd/projections/projects"
	"github.com/cmemd/cmemd/projections/rows"
)

// chooser is one choice under way.
type chooser struct {
	recall *Recall
	ask    Ask
	own    projects.Extent     // of the project; no roots: it is known by name alone
	given  injections.Injected // what the session's conversation holds
	since  events.Position     // what the session has been given already; 0: nothing
	rows   []*rows.Row
	undone []rows.Row // of work that was undone: those met on the way to rows, at a prompt those of its summaries' sessions
	files  []files.File
	score  map[events.ID]int // at a prompt: how much of it a row has
	wentOn bool              // the last session did so after its summary
	pieces []*piece
	asked  map[rows.Entry]request // the prompts that are told above what came of them
	left   int                    // questions about files that may still be asked
	exist  map[string]bool
}

// brief reports whether a few rows are wanted about one thing, rather than what a session begins with.
func (c *chooser) brief() bool { return c.ask.Source == SourcePrompt || c.ask.Source == SourceFile }

// section is where a piece stands in the text.
type section int

const (
	secPreferences section = iota // how the person works, in their own words
	secLast                       // the newest summary, at length
	secRecent                     // what that session did, below it
	secNext                       // open next steps of other sessions
	secMemories                   // saved by hand
	secWork                       // observations, other summaries and prompts by day
	sections
)

// byEntry reports whether the rows of a section stand by entry, below what was asked.
func (s section) byEntry() bool { return s == secRecent || s == secWork }

// piece is a row in one of the forms in which it may be injected.
type piece struct {
	row    rows.Row
	sec    section
	parts  []Part
	weight float64
	text   string // without its handle
	whole  string // the same at full length, as it stands where nothing else says any of it
	short  string // the same with the sentences that say most, of which each chosen piece is given its own before one is given more
	length int    // of short, in characters
	at     time.Time
	newer  *rows.Row // of later work on the same; nil: none is known
	mark   string    // of the line that the piece stands in first: where newer work stands
	chosen bool
	why    string

	reading *reading // of row, once read was asked for it
}

// read reads the row, once. It must not be changed behind that.
func (p *piece) read() *reading {
	if p.reading == nil {
		p.reading = readingOf(&p.row)
	}
	return p.reading
}

// lengthens reports whether a piece is shown at full length where there is room.
func (p *piece) lengthens() bool {
	return (p.sec.byEntry() || p.sec == secMemories) && p.row.Kind != rows.Prompt
}

// density is the piece's weight a character of its short form. The newest summary comes first whatever its length.
func (p *piece) density() float64 {
	if p.sec == secLast {
		return math.Inf(1)
	}
	return p.weight / float64(p.length+lineExtra)
}

// lineExtra is what a line costs beside its text: the handle, the time and the marks, about.
const lineExtra = 16

// hasEnough reports whether a row has enough of the prompt.
func (c *chooser) hasEnough(row rows.Row) bool { return c.score[row.ID] >= c.ask.Score }

const maxExists = 400

// exists asks for each file once.
func (c *chooser) exists(file string) (yes, known bool) {
	if c.ask.Exists == nil || file == "" {
		return false, false
	}
	if yes, known = c.exist[file]; known || c.left <= 0 {
		return yes, known
	}
	if c.exist == nil {
		c.exist = map[string]bool{}
	}
	c.left--
	yes = c.ask.Exists(file)
	c.exist[file] = yes
	return yes, true
}

// unfitReason says why a row is not injected at all; empty: it may be.
func (c *chooser) unfitReason(row rows.Row) string {
	goesOn := c.brief() || c.ask.Source == "resume" // the agent has what the session was given and did
	own := !c.ask.Session.IsZero() && row.Session == c.ask.Session
	switch {
	case !row.Listed():
		return "superseded or forgotten"
	case row.Machine != "" && !c.recall.isSettled():
		return "another machine's, and it is not known yet what was forgotten there"
	case row.Stated() && c.recall.cfg.NoPreferences:
		return "preferences are switched off"
	case row.IsUndone():
		return "undone since"
	case row.Flagged:
		return "flagged: a claim that is not true, or files that nobody touched"
	case row.External() && (row.Type == typeDecision || row.Kind == rows.Observation && row.Title == "" && textOf(row) == ""):
		return "a decision of a turn that read others' words, which no person confirmed"
	case c.since > 0 && row.Position <= c.since,
		goesOn && c.given.IDs[row.ID]:
		return "told before"
	case goesOn && own:
		return "the session's own"
	case c.ask.Source == SourceFile && row.At.Before(c.ask.Changed):
		return "the file was changed since"
	case c.ask.Source == SourcePrompt && !c.hasEnough(row):
		return "has too little of the prompt"
	}
	return ""
}
