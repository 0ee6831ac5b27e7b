package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/index"
)

const (
	// DefaultCharacters is how long injected memory is at most, the fence included; MaxCharacters is the most that may be
	// asked for: agents put a longer text into a file and show its beginning.
	DefaultCharacters = 9500
	MaxCharacters     = 10_000

	// How many of the newest rows of each kind that may be told are weighed.
	lookObservations = 120
	lookSummaries    = 12
	lookMemories     = 60
	lookPrompts      = 6
	lookFiles        = 24

	// lookRows is how many of the newest rows of each kind, and in each of the project's folders, are looked at for them, and
	// lookKnown how many that were there when the session was last told: hardly any that came since is older than these.
	lookRows  = 2000
	lookKnown = 240
)

// The sources of an Ask that are no start of a session. They are the hooks of an injection, too.
const (
	SourcePrompt = "prompt" // the user has said something
	SourceFile   = "file"   // a file is about to be read
)

// Ask is what a hook wants to tell an agent.
type Ask struct {
	ProjectRoot string // or Project; both empty: nothing is said
	Project     string // shown name
	ProjectKey  string // what identifies the project; empty: as the sessions in ProjectRoot said
	Session     events.SessionID
	Source      string // startup, clear, compact, resume, SourcePrompt, SourceFile; anything else is a startup

	Prompt  string    // with SourcePrompt: what the user said
	Score   int       // with SourcePrompt: how much a row must have of it; see Overlap. 0 means DefaultScore
	File    string    // with SourceFile: the file, absolute or relative to the project
	Changed time.Time // with SourceFile: when the file was changed last; what is older says nothing of it. Zero: not known

	Characters int       // at most; 0 means the Recall's, more than MaxCharacters means that
	Tokens     int       // at most, as Tokens estimates them; 0 means the Recall's
	Now        time.Time // of the hook; rows are dated in its zone
	Explain    bool      // fill in Context.Explain

	// Exists reports whether a file, absolute or relative to the project, is in the working tree. It must be quick; it is
	// asked at most 400 times. nil: nobody knows
	Exists func(file string) bool
}

// Context is memory for an agent.
type Context struct {
	Text       string          `json:"text"`       // fenced; empty if there is nothing to say
	IDs        []events.ID     `json:"ids"`        // of the rows in it, in its order; never nil
	Characters int             `json:"characters"` // of the text, in UTF-16 code units
	Tokens     int             `json:"tokens"`     // of the text, as Tokens estimates them
	Position   events.Position `json:"position"`   // what it knew
	Explain    []Choice        `json:"explain"`    // the rows that might have been told and the newest others, the worthiest first; empty unless asked for
}

// Choice says what became of a row that might have been told.
type Choice struct {
	ID         events.ID        `json:"id"`
	Kind       projections.Kind `json:"kind"`
	Type       string           `json:"type,omitempty"`
	Title      string           `json:"title"`
	At         time.Time        `json:"at"`
	Chosen     bool             `json:"chosen"`
	Why        string           `json:"why"`             // in a few words
	Worth      float64          `json:"worth"`           // the product of the parts
	Parts      []Part           `json:"parts,omitempty"` // of its weight; none for what is not told at all
	Characters int              `json:"characters"`
	Density    float64          `json:"density"` // weight a thousand characters: by it the choice is made; 0: first of all
}

// Part is a factor of a row's weight.
type Part struct {
	Name   string  `json:"name"`
	Factor float64 `json:"factor"`
}

// Why a row is in a context, or is not.
const (
	WhyWorth = "worth its length"
	WhyRoom  = "no room"
)

// Context chooses what an agent is told when a session starts, is cleared, compacted or resumed; when the user has said
// something; and when a file is about to be read. After a resume it is what is new since the session's last start, its
// own work left out: the agent has the rest. At a prompt or a file it is at most five rows, none that the conversation
// holds, and none at all where none is good. An unknown project gives an empty text and no error. Errors are ctx's, and
// those of the views and of the index.
func (r *Recall) Context(ctx context.Context, ask Ask) (Context, error) {
	out := Context{IDs: []events.ID{}, Explain: []Choice{}, Position: r.views.Position()}
	if ask.ProjectRoot == "" && ask.Project == "" {
		return out, nil
	}
	c := &chooser{recall: r, ask: ask, left: maxExists}
	c.bound()
	if err := c.load(ctx); err != nil {
		return Context{}, fmt.Errorf("recall: context: %w", err)
	}
	c.offerAll()
	page, err := c.write(ctx)
	if err != nil {
		return Context{}, fmt.Errorf("recall: context: %w", err)
	}
	out.Text, out.Characters, out.Tokens, out.Explain = page, size(page), Tokens(page), c.explain()
	for _, p := range c.shown() {
		out.IDs = append(out.IDs, p.row.ID)
	}
	return out, nil
}

// bound fills in how long the text may be.
func (c *chooser) bound() {
	c.ask.Characters = min(cmp.Or(max(c.ask.Characters, 0), c.recall.characters), MaxCharacters)
	c.ask.Tokens = cmp.Or(max(c.ask.Tokens, 0), c.recall.tokens)
	if c.brief() {
		c.ask.Characters = min(c.ask.Characters, maxBrief)
	}
}

// chooser is one choice under way.
type chooser struct {
	recall *Recall
	ask    Ask
	roots  []string          // that are one project; none: it is known by name alone
	given  projections.Given // what the session's conversation holds
	since  events.Position   // what the session has been told already; 0: nothing
	rows   []projections.Row
	files  []projections.File
	score  map[events.ID]int // at a prompt: how much of it a row has
	pieces []*piece
	left   int // questions about files that may still be asked
	exist  map[string]bool
}

// brief reports whether a few rows are wanted about one thing, rather than what a session begins with.
func (c *chooser) brief() bool { return c.ask.Source == SourcePrompt || c.ask.Source == SourceFile }

// load reads the rows that may be told.
func (c *chooser) load(ctx context.Context) error {
	if err := c.loadPlace(ctx); err != nil {
		return err
	}
	switch c.ask.Source {
	case SourcePrompt:
		return c.loadPrompt(ctx)
	case SourceFile:
		return c.loadFile(ctx)
	case "resume":
		c.since = c.given.Knew
	}
	looks := []struct {
		kind  projections.Kind
		limit int
	}{
		{projections.Summary, lookSummaries}, {projections.Memory, lookMemories},
		{projections.Observation, lookObservations}, {projections.Prompt, lookPrompts},
	}
	for _, l := range looks {
		if err := c.loadKind(ctx, l.kind, l.limit); err != nil {
			return err
		}
	}
	return c.loadFiles(ctx)
}

// loadPlace finds the project's folders, and what the session was told last.
func (c *chooser) loadPlace(ctx context.Context) (err error) {
	if c.ask.ProjectRoot != "" {
		if c.roots, err = c.recall.views.Folders(ctx, c.ask.ProjectRoot, c.ask.ProjectKey); err != nil {
			return err
		}
	}
	if !c.ask.Session.IsZero() {
		c.given, err = c.recall.views.Given(ctx, c.ask.Session)
	}
	return err
}

// loadKind reads the newest rows of one kind that may be told: from the lists of the project's folders, and those that have
// its name and no root, which no folder's list has, from the index.
func (c *chooser) loadKind(ctx context.Context, kind projections.Kind, limit int) error {
	var found []projections.Row
	for _, root := range c.roots {
		l := &look{chooser: c, others: limit}
		rows, err := c.recall.views.Recent(ctx, projections.RecentFilter{
			ProjectRoot: root, Kinds: []projections.Kind{kind}, Limit: limit, Match: l.fit, Done: l.done,
		})
		if err != nil {
			return err
		}
		found = append(found, rows...)
	}
	named, err := c.named(ctx, kind, limit)
	if err != nil {
		return err
	}
	found = append(found, named...)
	slices.SortStableFunc(found, func(a, b projections.Row) int { return inTime(b, a) })
	c.rows = append(c.rows, found[:min(len(found), limit)]...)
	return nil
}

// look is one look for rows that may be told, the newest first.
type look struct {
	*chooser
	others        int // that may not be told, and are still to be kept to say why not
	looked, known int
}

// fit reports whether a row may be told.
func (l *look) fit(row projections.Row) bool {
	l.looked++
	if row.Position <= l.since {
		l.known++
	}
	if l.unfit(row) == "" {
		return true
	}
	if l.ask.Explain && l.others > 0 {
		l.rows = append(l.rows, row)
		l.others--
	}
	return false
}

// done reports whether enough was looked at, whatever was found.
func (l *look) done() bool { return l.looked >= lookRows || l.known >= lookKnown }

// named reads the newest fit rows of one kind of all projects of the name; if there is a root, those that have none.
func (c *chooser) named(ctx context.Context, kind projections.Kind, limit int) ([]projections.Row, error) {
	if c.ask.Project == "" {
		return nil, nil
	}
	k, _ := indexKind(kind)
	q := index.Query{Project: c.ask.Project, Kinds: []index.Kind{k}}
	if len(c.roots) > 0 {
		q.Project, q.Rootless = "", c.ask.Project
	}
	l := &look{chooser: c, others: limit}
	return c.recall.listed(ctx, q, limit, l.fit, l.done)
}

// loadFiles reads which of the project's files were changed last.
func (c *chooser) loadFiles(ctx context.Context) error {
	for _, root := range c.roots {
		files, err := c.recall.views.Files(ctx, projections.FileFilter{
			ProjectRoot: root, ModifiedOnly: true, Limit: lookFiles, Touches: 3,
		})
		if err != nil {
			return err
		}
		c.files = append(c.files, files...)
	}
	slices.SortStableFunc(c.files, func(a, b projections.File) int { return b.LastAt.Compare(a.LastAt) })
	c.files = slices.CompactFunc(c.files, func(a, b projections.File) bool { return a.Path == b.Path })
	c.files = c.files[:min(len(c.files), lookFiles)]
	return nil
}

// explain lists all pieces, the worthiest a character first.
func (c *chooser) explain() []Choice {
	out := make([]Choice, 0, len(c.pieces))
	if !c.ask.Explain {
		return out
	}
	for _, p := range c.pieces {
		choice := Choice{
			ID: p.row.ID, Kind: p.row.Kind, Type: p.row.Type, Title: oneLine(titleOf(p.row), maxTitle), At: p.row.At,
			Chosen: p.chosen, Why: p.why, Worth: p.weight, Parts: p.parts, Characters: size(p.text),
		}
		if p.sec != secLast {
			choice.Density = 1000 * p.density()
		}
		out = append(out, choice)
	}
	return out
}
