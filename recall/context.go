package recall

import (
	"context"
	"fmt"
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

	// How many of the newest rows of each kind are looked at.
	lookObservations = 120
	lookSummaries    = 12
	lookMemories     = 60
	lookPrompts      = 6
	lookFiles        = 24
)

// Ask is what a hook wants to tell an agent.
type Ask struct {
	ProjectRoot string // or Project; both empty: nothing is said
	Project     string // shown name
	Session     events.SessionID
	Source      string // startup, clear, compact, resume; anything else is a startup

	Characters int       // at most; 0 means DefaultCharacters, more than MaxCharacters means that
	Now        time.Time // of the hook; rows are dated in its zone
	Explain    bool      // fill in Context.Explain
}

// Context is memory for an agent.
type Context struct {
	Text       string          `json:"text"`       // fenced; empty if there is nothing to say
	IDs        []events.ID     `json:"ids"`        // of the rows in it, in its order; never nil
	Characters int             `json:"characters"` // of the text, in UTF-16 code units
	Position   events.Position `json:"position"`   // what it knew
	Explain    []Choice        `json:"explain"`    // every row that was looked at, the worthiest first; empty unless asked for
}

// Choice says what became of a row that might have been told.
type Choice struct {
	ID         events.ID        `json:"id"`
	Kind       projections.Kind `json:"kind"`
	Title      string           `json:"title"`
	Chosen     bool             `json:"chosen"`
	Why        string           `json:"why"` // in a few words
	Worth      float64          `json:"worth"`
	Characters int              `json:"characters"`
}

// Context chooses what an agent is told when a session starts, is cleared, compacted or resumed. After a resume it is
// what is new since the session's last injection, its own work left out; the agent has the rest. An unknown project
// gives an empty text and no error. Errors are ctx's, and those of the views and of the index.
func (r *Recall) Context(ctx context.Context, ask Ask) (Context, error) {
	out := Context{IDs: []events.ID{}, Explain: []Choice{}, Position: r.views.Position()}
	if ask.ProjectRoot == "" && ask.Project == "" {
		return out, nil
	}
	if ask.Characters <= 0 {
		ask.Characters = DefaultCharacters
	}
	ask.Characters = min(ask.Characters, MaxCharacters)
	c := &chooser{recall: r, ask: ask}
	if err := c.load(ctx); err != nil {
		return Context{}, fmt.Errorf("recall: context: %w", err)
	}
	c.offerAll()
	page, err := c.write(ctx)
	if err != nil {
		return Context{}, fmt.Errorf("recall: context: %w", err)
	}
	out.Text, out.Characters, out.Explain = page, size(page), c.explain()
	for _, p := range c.shown() {
		out.IDs = append(out.IDs, p.row.ID)
	}
	return out, nil
}

// chooser is one choice under way.
type chooser struct {
	recall *Recall
	ask    Ask
	since  events.Position // what the session has been told already; 0: nothing
	rows   []projections.Row
	files  []projections.File
	pieces []*piece
}

// load reads the newest rows and files of the project.
func (c *chooser) load(ctx context.Context) error {
	if c.ask.Source == "resume" {
		if err := c.loadSince(ctx); err != nil {
			return err
		}
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
	if c.ask.ProjectRoot == "" {
		return nil
	}
	var err error
	c.files, err = c.recall.views.Files(ctx, projections.FileFilter{
		ProjectRoot: c.ask.ProjectRoot, ModifiedOnly: true, Limit: lookFiles, Touches: 3,
	})
	return err
}

// loadSince finds what the session was told last.
func (c *chooser) loadSince(ctx context.Context) error {
	if c.ask.Session.IsZero() {
		return nil
	}
	told, err := c.recall.views.InjectionsBefore(ctx, c.ask.Session, 0, 20)
	for _, i := range told {
		c.since = max(c.since, i.Knew)
	}
	return err
}

// loadKind reads rows of one kind: from the project's list, and those saved under the project's name alone, which no
// root's list has, from the index.
func (c *chooser) loadKind(ctx context.Context, kind projections.Kind, limit int) error {
	if c.ask.ProjectRoot != "" {
		rows, err := c.recall.views.Recent(ctx, projections.RecentFilter{
			ProjectRoot: c.ask.ProjectRoot, Kinds: []projections.Kind{kind}, Limit: limit,
		})
		if err != nil {
			return err
		}
		c.rows = append(c.rows, rows...)
	}
	if c.ask.Project == "" || c.ask.ProjectRoot != "" && kind != projections.Memory {
		return nil
	}
	k, _ := indexKind(kind)
	found, err := c.recall.index.Search(ctx, index.Query{Project: c.ask.Project, Kinds: []index.Kind{k}, Limit: limit})
	if err != nil {
		return err
	}
	hits, err := c.recall.live(ctx, Query{}, found.Hits)
	for _, h := range hits {
		if c.ask.ProjectRoot == "" || h.row.ProjectRoot == "" {
			c.rows = append(c.rows, h.row)
		}
	}
	return err
}
