package recall

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// halfLife is how long it takes for a row's weight to halve; what was saved by hand fades slower.
	halfLife           = 10 * 24 * time.Hour
	memoryHalfLife     = 90 * 24 * time.Hour
	preferenceHalfLife = 180 * 24 * time.Hour

	// howShare is the part of the characters that preferences may take: a tenth.
	howShare = 10

	// What a row is worth beside an ordinary observation, when it is new.
	weightPreference = 20.0
	weightLast       = 12.0
	weightNext       = 3.0
	weightMemory     = 3.0
	weightAgents     = 1.5 // saved by an agent: as a decision that was observed
	weightDone       = 1.3 // a summary that is not the newest
	weightPrompt     = 0.35

	// ordinaryWeight is what an ordinary observation is worth, the median of those of two projects, as reading counts it.
	ordinaryWeight = 5

	// fileFactor raises observations on files that were changed lately, hereFactor those on files that are in this working
	// tree, and goneFactor lowers those on files of which none is there any more.
	fileFactor = 1.25
	hereFactor = 1.2
	goneFactor = 0.5

	// newerFactor lowers an observation if a newer one is of the same, unless it is a decision.
	newerFactor = 0.5

	// filesOfRow is how many of a row's files are looked for, and maxExists how many are altogether.
	filesOfRow = 4

	// nextSteps is how many older sessions' next steps are looked at, and maxNextAge how old they may be: older ones are
	// rarely still open.
	nextSteps  = 3
	maxNextAge = 14 * 24 * time.Hour
)

// typeWeight is what an observation is worth by its type; all others count 1.
func typeWeight(t string) float64 {
	switch t {
	case typeDecision:
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

// offerAll makes the pieces, the heaviest for their length first.
func (c *chooser) offerAll() {
	answered, observed := c.answered()
	o := pieceBuilder{chooser: c, now: c.newest(), changed: c.changedFiles(), hasNext: map[events.SessionID]bool{}, observed: observed}
	var newer map[events.ID]*rows.Row
	if !c.brief() {
		newer = newerWork(slices.DeleteFunc(slices.Clone(c.rows), func(row *rows.Row) bool { return c.unfitReason(*row) != "" }))
	}
	for _, known := range c.rows {
		row := c.withoutUndone(c.withoutAnswered(withoutOrders(*known)))
		why := c.unfitReason(row)
		if at := (asked{row.Session, row.Prompt}); why == "" &&
			(row.Kind == rows.Prompt && answered[at] || row.Kind == rows.Summary && o.hasLast && !o.givesNext(row) && o.observed[at]) {
			why = "what came of it says it"
		}
		if why == "" && c.brief() && row.Kind == rows.Summary && c.observedIn(row.Session) {
			why = "what was observed in its session says it"
		}
		if why == "" && row.External() && newer[row.ID] != nil {
			why = "newer work on the same"
		}
		if why != "" {
			c.pieces = append(c.pieces, &piece{row: row, why: why, at: row.At})
			continue
		}
		p := o.build(row)
		p.row, p.at, p.weight, p.whole = row, row.At, 1, p.text
		if p.lengthens() && !c.brief() {
			p.whole = cmp.Or(c.longLine(p.read(), &saidTexts{}, true, maxWorkText), p.text)
		}
		if p.short = p.whole; size(p.whole) > maxShortText && p.lengthens() && !c.brief() {
			p.short = cmp.Or(c.longLine(p.read(), &saidTexts{}, true, maxShortText), p.text)
		}
		p.length = size(p.short)
		if row.Kind == rows.Observation && !c.brief() {
			p.parts = append(p.parts, Part{"what it says", (1 + p.read().weight) / (1 + ordinaryWeight)})
			if p.newer = newer[row.ID]; p.newer != nil && row.Type != typeDecision { // work goes on with what was decided as a rule
				p.parts = append(p.parts, Part{"newer work on the same", newerFactor})
			}
		}
		for _, part := range p.parts {
			p.weight *= part.Factor
		}
		c.pieces = append(c.pieces, p)
	}
	slices.SortStableFunc(c.pieces, func(a, b *piece) int { return cmp.Compare(b.density(), a.density()) })
}

// pieceBuilder makes pieces out of fit rows, the newest of each kind first.
type pieceBuilder struct {
	*chooser
	now     time.Time
	changed map[string]bool
	hasLast bool                      // the newest summary was there
	last    events.SessionID          // its session
	hasNext map[events.SessionID]bool // whose next steps were there

	observed map[asked]bool // prompts whose work observations tell of
}

// build says in which form, and with what weight, a row may be injected.
func (o *pieceBuilder) build(row rows.Row) *piece {
	age := o.now.Sub(row.At)
	switch {
	case o.brief():
		return &piece{sec: secWork, text: o.workLine(row), parts: o.briefParts(row, age)}
	case row.Kind == rows.Summary && !o.hasLast:
		o.hasLast, o.last, o.hasNext[row.Session] = true, row.Session, true
		o.wentOn = o.wentOnAfter(row)
		return &piece{sec: secLast, text: o.lastSummary(row, &saidTexts{}), parts: []Part{{"the newest summary", weightLast}}}
	case row.Kind == rows.Summary && o.givesNext(row):
		o.hasNext[row.Session] = true
		return &piece{sec: secNext, text: o.nextLine(row), parts: []Part{{"next steps", weightNext}, aged(age, halfLife)}}
	case row.Kind == rows.Summary:
		return &piece{sec: o.workSection(row), text: o.workLine(row), parts: []Part{{"summary", weightDone}, aged(age, halfLife)}}
	case row.Stated():
		parts := append(saidAgain(row), Part{"stated by the person", weightPreference}, aged(age, preferenceHalfLife))
		return &piece{sec: secPreferences, text: o.preferenceLine(row), parts: parts}
	case row.Kind == rows.Memory:
		return &piece{sec: secMemories, text: o.workLine(row), parts: []Part{savedBy(row), aged(age, memoryHalfLife)}}
	case row.Kind == rows.Prompt:
		return &piece{sec: o.workSection(row), text: o.workLine(row), parts: []Part{{"prompt", weightPrompt}, aged(age, halfLife)}}
	}
	return &piece{sec: o.workSection(row), text: o.workLine(row), parts: o.observation(row, age)}
}

// workSection is where a row of what was done stands.
func (o *pieceBuilder) workSection(row rows.Row) section {
	if o.hasLast && row.Session == o.last {
		return secRecent
	}
	return secWork
}

// givesNext reports whether the next steps of a summary that is not the newest are given.
func (o *pieceBuilder) givesNext(row rows.Row) bool {
	return row.NextSteps != "" && !o.hasNext[row.Session] && len(o.hasNext) <= nextSteps && o.now.Sub(row.At) < maxNextAge
}

// savedBy is the part of a saved memory's weight that follows from who saved it.
func savedBy(row rows.Row) Part {
	if row.Writer == events.WriterAgent {
		return Part{"saved by an agent", weightAgents}
	}
	return Part{"saved by hand", weightMemory}
}

// observation are the parts of an observation's weight.
func (o *pieceBuilder) observation(row rows.Row, age time.Duration) []Part {
	parts := []Part{{"type " + cmp.Or(row.Type, events.TypeUnknown), typeWeight(row.Type)}, aged(age, halfLife)}
	parts = append(parts, saidAgain(row)...)
	if slices.ContainsFunc(row.FilesModified, func(f string) bool { return o.changed[path.Base(f)] }) {
		parts = append(parts, Part{"files changed lately", fileFactor})
	}
	switch here, known := o.filesHere(row); {
	case known && here:
		parts = append(parts, Part{"files in this tree", hereFactor})
	case known:
		parts = append(parts, Part{"files are gone", goneFactor})
	}
	return parts
}

// follows reports whether a row is an observation of later work of a summary's session, and may be injected. What was observed again is
// of the same time.
func (c *chooser) follows(row *rows.Row, summary rows.Row) bool {
	return row.Kind == rows.Observation && row.Session == summary.Session && row.At.After(summary.At) && c.unfitReason(*row) == ""
}

// saidAgain is the part of the weight of a row that stands for others.
func saidAgain(row rows.Row) []Part {
	if row.Count < 2 {
		return nil
	}
	return []Part{{"said more than once", 1 + math.Log2(float64(row.Count))/4}}
}

// filesHere reports whether one of the files that a row touched is in the working tree, and whether that is known.
func (c *chooser) filesHere(row rows.Row) (here, known bool) {
	files := slices.Concat(row.FilesModified, row.FilesRead)
	for _, f := range files[:min(len(files), filesOfRow)] {
		yes, ok := c.exists(f)
		known = known || ok
		if yes {
			return true, true
		}
	}
	return false, known
}

// aged is what age leaves of a weight.
func aged(age, half time.Duration) Part { return Part{"age", fade(age, half)} }

// asked names a user's prompt.
type asked struct {
	session events.SessionID
	number  int
}

// answered returns the prompts that led to a row which may be injected itself, and those that led to an observation.
func (c *chooser) answered() (led, observed map[asked]bool) {
	led, observed = map[asked]bool{}, map[asked]bool{}
	for _, row := range c.rows {
		if row.Kind != rows.Prompt && row.Prompt > 0 && c.unfitReason(*row) == "" {
			at := asked{row.Session, row.Prompt}
			led[at] = true
			observed[at] = observed[at] || row.Kind == rows.Observation
		}
	}
	return led, observed
}

// withoutAnswered is a summary without what the person was asked, where the session's next prompt, or what came of it, was there.
func (c *chooser) withoutAnswered(row rows.Row) rows.Row {
	if row.Kind != rows.Summary || !strings.Contains(row.NextSteps, events.AskedPerson) {
		return row
	}
	if slices.ContainsFunc(c.rows, func(later *rows.Row) bool {
		return later.Session == row.Session && later.Prompt > row.Prompt && (later.Kind == rows.Prompt || c.follows(later, row))
	}) {
		row.NextSteps = strings.Join(slices.DeleteFunc(strings.Split(row.NextSteps, "\n"), func(step string) bool {
			return strings.HasPrefix(strings.TrimPrefix(step, "- "), events.AskedPerson)
		}), "\n")
	}
	return row
}

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

// briefParts are the parts of the weight of a row that is injected at a prompt or a file.
func (c *chooser) briefParts(row rows.Row, age time.Duration) []Part {
	if c.ask.Source == SourceFile {
		return c.fileParts(row, age)
	}
	return []Part{{"words of the prompt", float64(c.score[row.ID])}, aged(age, memoryHalfLife)}
}

// fileParts are the parts of the weight of an observation of the file.
func (c *chooser) fileParts(row rows.Row, age time.Duration) []Part {
	parts := []Part{{"type " + row.Type, typeWeight(row.Type)}, aged(age, memoryHalfLife)}
	name := c.relative(c.ask.File)
	for _, f := range row.FilesModified {
		if f == c.ask.File || strings.HasSuffix("/"+f, "/"+name) {
			parts = append(parts, Part{"changed the file", weightChanged})
			break
		}
	}
	switch n := len(row.FilesModified) + len(row.FilesRead); {
	case n <= fewFiles:
		parts = append(parts, Part{"one of few files", weightFew})
	case n <= someFiles:
		parts = append(parts, Part{"one of some files", weightSome})
	}
	return parts
}
