package capture

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/capture/privacy"
)

// withoutPrivate is a report without what rules leave out. Of a session of which nothing is recorded no
// memory is wanted either: that it was given some would be recorded.
func withoutPrivate(r agents.Report, rules *privacy.Rules) agents.Report {
	if why := rules.Skips(r.Origin.Agent, r.Origin.Cwd); why != "" {
		r.Captures, r.Wants, r.Ignored = nil, agents.WantNone, why
		return r
	}
	kept := r.Captures[:0]
	for _, c := range r.Captures {
		c, why := public(c, rules)
		if why != "" {
			r.Ignored = why
			continue
		}
		kept = append(kept, c)
	}
	r.Captures = kept
	return r
}

// filterPrivate is a capture from a transcript without what the rules of privacy leave out; why says that it is all of it.
func (p *Pipeline) filterPrivate(c session.Capture) (kept session.Capture, why string) {
	if why := p.cfg.Rules.Skips(c.Origin.Agent, c.Origin.Cwd); why != "" {
		return c, why
	}
	return public(c, p.cfg.Rules)
}

// public is a capture without private contents. Why says that nothing of it may be recorded.
func public(c session.Capture, rules *privacy.Rules) (kept session.Capture, why string) {
	t, ok := c.Event.(events.ToolUsed)
	if !ok {
		return c, ""
	}
	if why := rules.SkipsTool(t.Tool); why != "" {
		return c, why
	}
	cwd := cmp.Or(t.Cwd, c.Origin.Cwd)
	f := rules.Inspect(cwd, t.Input)
	if f.Ignored {
		return c, "it names an ignored path"
	}
	if kept, cut := withoutContents(t, cwd, f, rules); cut {
		c.Event = kept
	}
	return c, ""
}

// withoutContents is a tool use without what of a private file the tool was given to write, and without what came of it of
// one, of an ignored file, or of the environment. Cut is false where nothing is left out.
func withoutContents(t events.ToolUsed, cwd string, f privacy.Finding, rules *privacy.Rules) (kept events.ToolUsed, cut bool) {
	output, left := rules.CutOutput(cwd, t.Output, f)
	if f.LeftOut != "" {
		t.Input = rules.Cut(t.Input, f)
		if !slices.Contains(left, f.LeftOut) {
			left = append(left, f.LeftOut)
		}
	}
	if len(left) == 0 {
		return t, false
	}
	t.Output = output
	t.Redactions = maps.Clone(t.Redactions)
	if t.Redactions == nil {
		t.Redactions = make(map[string]int, len(left))
	}
	for _, kind := range left {
		t.Redactions[kind]++
	}
	return t, true
}
