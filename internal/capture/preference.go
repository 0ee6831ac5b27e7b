package capture

import (
	"context"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/preference"
)

type unheardKey struct{}

// WithoutPreferences is ctx of reports in which nothing is believed to be a person's rule: whoever brings them is no person.
func WithoutPreferences(ctx context.Context) context.Context {
	return context.WithValue(ctx, unheardKey{}, true)
}

// withPreferences adds to a capture what the person says in it of how to work: in a prompt, or in the reason of a refused tool use.
func (p *Pipeline) withPreferences(ctx context.Context, c session.Capture) session.Capture {
	if p.cfg.NoPreferences || ctx.Value(unheardKey{}) != nil {
		return c
	}
	var found []preference.Sentence
	switch e := c.Event.(type) {
	case events.PromptSubmitted:
		found = preference.InPrompt(e.Text)
	case events.ToolUsed:
		found = preference.InRefusal(agents.Refusal(e))
	}
	for _, s := range found {
		c.Preferences = append(c.Preferences, events.PreferenceStated{Sentence: s.Text, Same: events.KeyOf("preference", s.Normalized)})
	}
	return c
}
