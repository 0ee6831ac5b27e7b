package capture

import (
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/preference"
)

// withPreferences adds to a capture what the person says in it of how to work: in a prompt, or in the reason of a refused tool use.
func (p *Pipeline) withPreferences(c session.Capture) session.Capture {
	if p.cfg.NoPreferences {
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
		c.Preferences = append(c.Preferences, events.PreferenceStated{Sentence: s.Text, Same: events.KeyOf("preference", s.Words)})
	}
	return c
}
