package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// maxObserved is how many observations a summary is made of, the last ones: a session's that fit into a turn are seldom half as many.
const maxObserved = 100

// maxEntry is how many characters are shown of one of them.
const maxEntry = 2_000

// summary writes a summary turn: what was asked for and observed in the session, and what the agent said last.
func (m *message) summary(p observer.Prompt) {
	m.brief(p)
	m.requests(p.Requests)
	if end := ended(p.Stop); end != "" {
		m.line("how the work ended", end)
	}
	if len(p.Observed) == 0 {
		m.line("observations", "none were recorded")
	}
	first := max(0, len(p.Observed)-maxObserved)
	if first > 0 {
		m.line(fmt.Sprintf("observations 1 to %d", first), "left out: there are too many")
	}
	if p.Apart > 0 {
		m.line(fmt.Sprintf("observations 1 to %d", p.Apart), "what weighs most of the session's beginning; others between them are left out")
	}
	for i, o := range p.Observed[first:] {
		m.entry(fmt.Sprintf("observation %d", first+i+1), clean(m.observation(o)), maxEntry)
	}
	m.field("the agent's last message", clean(p.Message), maxField)
}

// requests writes what the user had asked for before.
func (m *message) requests(texts []string) {
	var b strings.Builder
	for _, t := range texts {
		if t = m.oneLine(t, maxInline); t != "" {
			b.WriteString("- " + t + "\n")
		}
	}
	m.field("the user's earlier requests in this session", b.String(), maxContext)
}

// ended is a stop's cause in words.
func ended(cause events.StopCause) string {
	switch cause {
	case events.StopDone:
		return "the agent said that it was done"
	case events.StopFailure:
		return "the agent's own model failed"
	case events.StopCompact:
		return "the agent compacted its context in the middle of it"
	case events.StopEnd:
		return "the session ended in the middle of it"
	case events.StopIdle:
		return "nothing was heard for half an hour"
	}
	return ""
}

// observation is an observation as text.
func (m *message) observation(o events.ObservationParsed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", m.oneLine(o.Type, maxName), m.oneLine(o.Title, maxTitle))
	if o.Unseen || o.Unsupported || slices.ContainsFunc(o.Claims, func(c events.Claim) bool { return c.Verdict == events.Absent }) {
		b.WriteString("(It names a commit or files that do not exist, or says what nobody said: do not rely on it.)\n")
	}
	for _, s := range []string{o.Subtitle, o.Narrative} {
		if s != "" {
			b.WriteString(s + "\n")
		}
	}
	for _, f := range o.Facts {
		b.WriteString("- " + f + "\n")
	}
	if len(o.FilesModified) > 0 {
		b.WriteString("changed: " + strings.Join(o.FilesModified, ", ") + "\n")
	}
	return b.String()
}
