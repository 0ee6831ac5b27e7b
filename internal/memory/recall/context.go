package recall

import (
	"cmp"
	"context"
	"fmt"

	"github.com/cmemd/cmemd/events"
)

// Context chooses what an agent is given when a session starts, is cleared, compacted or resumed; when the user has said
// something; and when a file is about to be read. After a resume it is what is new since the session's last start, its
// own work left out: the agent has the rest. At a prompt or a file it is at most five rows, none that the conversation
// holds, and none at all where none is good. An unknown project gives an empty text and no error. Errors are ctx's, and
// those of the views and of the index.
func (r *Recall) Context(ctx context.Context, ask Ask) (Context, error) {
	out := Context{IDs: []events.ID{}, Explain: []Choice{}, Position: r.cfg.Views.Position()}
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
	out.IDs = c.injectedIDs()
	return out, nil
}

// bound fills in how long the text may be, and how much a row must have of the prompt.
func (c *chooser) bound() {
	c.ask.Characters = min(cmp.Or(max(c.ask.Characters, 0), c.recall.cfg.Characters), MaxCharacters)
	c.ask.Tokens = cmp.Or(max(c.ask.Tokens, 0), c.recall.cfg.Tokens)
	if c.ask.Score <= 0 {
		c.ask.Score = DefaultPromptScore
	}
	if c.brief() {
		c.ask.Characters = min(c.ask.Characters, maxBrief)
	}
}

// explain lists all pieces, the heaviest for their length first.
func (c *chooser) explain() []Choice {
	out := make([]Choice, 0, len(c.pieces))
	if !c.ask.Explain {
		return out
	}
	for _, p := range c.pieces {
		choice := Choice{
			ID: p.row.ID, Handle: p.row.Handle(), Kind: p.row.Kind, Type: p.row.Type, Title: oneLine(titleOf(p.row), maxTitle), At: p.row.At,
			Chosen: p.chosen, Why: p.why, Weight: p.weight, Parts: p.parts, Characters: size(p.text),
		}
		if p.sec != secLast {
			choice.Density = 1000 * p.density()
		}
		out = append(out, choice)
	}
	return out
}
