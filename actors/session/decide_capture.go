package session

import (
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/events"
)

func decideCapture(s *State, rules Rules, c Capture) ([]events.Draft, error) {
	if _, seen := s.keys[c.Key]; seen && !c.Key.IsZero() {
		return nil, nil
	}
	b := newDecision(c.ID, c.At)
	if _, opening := c.Event.(events.SessionOpened); !opening && (!s.opened || s.learnsPlace(c)) {
		b.add(opened(c.Origin, "sight"))
	}
	if err := addCapture(s, rules, b, c); err != nil || len(b.drafts) == 0 {
		return nil, err
	}
	b.last().Key = c.Key
	b.addPreferences(c.Preferences)
	return b.drafts, nil
}

// learnsPlace reports whether nothing was known of where the session is before c, which is no end of it: what hooks kept without a
// key says nothing of it.
func (s *State) learnsPlace(c Capture) bool {
	if _, closing := c.Event.(events.SessionClosed); closing {
		return false
	}
	return s.origin.Cwd == "" && s.origin.Project == "" && c.Origin.Cwd != ""
}

func addCapture(s *State, rules Rules, b *decision, c Capture) error {
	prompt := len(s.prompts)
	switch e := c.Event.(type) {
	case events.SessionOpened:
		b.add(opened(c.Origin, e.Source))
	case events.PromptSubmitted:
		e.Number = prompt + 1
		b.add(e).last().Unobserved = e.Private
	case events.ToolUsed:
		private := s.private
		if e.Prompt = prompt; e.Refused { // it may be read long after
			e.Prompt, private = s.promptAt(b.at)
		}
		b.add(withoutOwnResults(e, private)).last().Unobserved = private || e.Unobserved != ""
	case events.AgentStopped:
		if s.private {
			e.LastMessage = ""
		}
		b.addStop(e, s.work, prompt)
		said := rules.Version >= RulesTalk && (s.words || strings.TrimSpace(e.LastMessage) != "")
		b.last().Unobserved = s.work == 0 && !said
	case events.AgentSaid:
		b.addSaid(s, e)
	case events.ContextCompacted:
		if s.work > 0 {
			b.addStop(events.AgentStopped{Cause: events.StopCompact}, s.work, prompt)
		}
		if s.private {
			e.Summary = ""
		}
		e.Prompt = prompt
		b.add(e).last().Unobserved = s.private
	case events.SessionClosed:
		if s.work > 0 {
			b.addStop(events.AgentStopped{Cause: events.StopEnd}, s.work, prompt)
		}
		if s.work > 0 || !s.closed {
			b.add(e)
		}
	case events.ContextInjected:
		b.add(e)
	case events.ObservationParsed:
		if e.Source == "" || e.Turn != (events.ID{}) {
			return fmt.Errorf("%w: an observation of no other memory", ErrNotCapture)
		}
		b.add(e)
	case events.SummaryParsed:
		if e.Source == "" || e.Turn != (events.ID{}) {
			return fmt.Errorf("%w: a summary of no other memory", ErrNotCapture)
		}
		b.add(e)
	default:
		return fmt.Errorf("%w: %T", ErrNotCapture, c.Event)
	}
	return nil
}

func (b *decision) addStop(e events.AgentStopped, work, prompt int) {
	e.Work, e.Prompt = work, prompt
	b.add(e).last().Unobserved = work == 0
}

// addSaid adds a text that may be read long after it was said: it answers the prompt of its own time.
func (b *decision) addSaid(s *State, e events.AgentSaid) {
	number, private := s.promptAt(b.at)
	if private {
		e.Text = ""
	}
	e.Prompt = number
	b.add(e).last().Unobserved = private
}

// addPreferences adds what the person states in what was added last.
func (b *decision) addPreferences(stated []events.PreferenceStated) {
	in := *b.last()
	for _, e := range stated {
		switch said := in.Event.(type) {
		case events.PromptSubmitted:
			e.Prompt, e.ToolUseID = said.Number, ""
		case events.ToolUsed:
			e.Prompt, e.ToolUseID = said.Prompt, said.ToolUseID
		default:
			return
		}
		if !in.Unobserved {
			b.add(e)
		}
	}
}

// withoutOwnResults cuts the content of a tool use that no turn may see: one of our own, or one that serves a private prompt.
// Of the latter it is not kept either which rows it asked for. What was imported keeps it: no turn sees that because another memory has
// observed it.
func withoutOwnResults(e events.ToolUsed, private bool) events.ToolUsed {
	if private && e.Unobserved == "" {
		e.Unobserved = "private"
	}
	if e.Unobserved != "" && e.Unobserved != events.UnobservedImported || private {
		e.Input, e.Output = "", ""
	}
	if private {
		e.Named = nil
	}
	return e
}

func opened(o Origin, source string) events.SessionOpened {
	o.Source = source
	return events.SessionOpened(o)
}

func decideTick(s *State, rules Rules, c Tick) ([]events.Draft, error) {
	b := newDecision(c.ID, c.At)
	silent := s.opened && !s.closed && !c.At.Before(s.active.Add(rules.Silence))
	if s.work > 0 && !c.At.Before(s.active.Add(rules.IdleStop)) {
		b.addStop(events.AgentStopped{Cause: events.StopIdle}, s.work, len(s.prompts))
	}
	if silent {
		b.add(events.SessionClosed{Cause: "silent"})
	}
	return b.drafts, nil
}

// decideSettle stops work, or words alone, that nothing followed. The stop is dated by the session's last sign of life, so that
// what the agent reports later is work of its own.
func decideSettle(s *State, rules Rules, c Settle) []events.Draft {
	last := s.heard
	if c.Last.After(last) {
		last = c.Last
	}
	if s.closed || s.work == 0 && !s.words || c.At.Before(last.Add(rules.IdleStop)) {
		return nil
	}
	b := newDecision(c.ID, s.heard)
	b.addStop(events.AgentStopped{Cause: events.StopIdle}, s.work, len(s.prompts))
	b.last().Unobserved = false
	return b.drafts
}
