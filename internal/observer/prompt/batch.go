package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

const (
	// maxRecords is how many inputs are shown one by one: a batch has 20. More than that is a prompt made for another kind
	// of provider; of those behind only the number is given.
	maxRecords = 64

	// maxContext is how many characters are shown of what only explains the work: the user's request, the agent's words
	// about it.
	maxContext = 4_000

	// maxSaid is how many characters are shown of a text between two inputs.
	maxSaid = 1_000

	// maxRecent is how many titles of earlier observations are shown, the last ones.
	maxRecent = 10
)

// batch writes an observation turn.
func (m *message) batch(p observer.Prompt) {
	m.brief(p)
	m.recent(p.Recent)
	limit := fieldLimit(p.Attempt)
	var earlier []events.Event
	said := p.Said
	for i, in := range p.Inputs {
		for len(said) > 0 && said[0].At.Before(in.At) {
			said = m.said(said, limit)
		}
		if i == maxRecords {
			m.line(fmt.Sprintf("records %d to %d", i+1, len(p.Inputs)), "left out: there are too many")
			break
		}
		if in.Repeats {
			earlier = append(earlier, in.Event) // what it repeats went out with another turn
		}
		m.record(strconv.Itoa(i+1), in, earlier, limit)
		earlier = append(earlier, in.Event)
	}
	for len(said) > 0 {
		said = m.said(said, limit)
	}
	m.field("what the agent said when it had done all this", clean(p.Message), min(maxContext, limit))
}

// said writes the first of the texts that stood between the inputs, and returns the others.
func (m *message) said(texts []observer.Saying, limit int) []observer.Saying {
	m.field("what the agent said", clean(texts[0].Text), min(maxSaid, limit))
	return texts[1:]
}

// brief writes what a turn is about.
func (m *message) brief(p observer.Prompt) {
	m.line("brief", "")
	for _, b := range []struct{ label, text string }{
		{"project", p.Project}, {"folder", p.Cwd}, {"agent", p.Agent}, {"time", span(p.Inputs)},
	} {
		if b.text != "" {
			m.line(b.label, b.text)
		}
	}
	m.field("the user's request", clean(p.Request), maxContext)
}

// span is when the inputs happened, to the minute.
func span(inputs []observer.Input) string {
	if len(inputs) == 0 || inputs[0].At.IsZero() {
		return ""
	}
	first, last := inputs[0].At.UTC(), inputs[len(inputs)-1].At.UTC()
	from, to := first.Format("2006-01-02 15:04"), last.Format("2006-01-02 15:04")
	if from == to || !last.After(first) {
		return from + " UTC"
	}
	return from + " to " + to + " UTC"
}

// recent writes the titles of the last observations. They say what is recorded already.
func (m *message) recent(titles []string) {
	var b strings.Builder
	for _, t := range titles[max(0, len(titles)-maxRecent):] {
		if t = m.oneLine(t, maxTitle); t != "" {
			b.WriteString("- " + t + "\n")
		}
	}
	m.field("recorded before", b.String(), maxContext)
}

// record writes one input.
func (m *message) record(number string, in observer.Input, earlier []events.Event, limit int) {
	switch e := in.Event.(type) {
	case events.ToolUsed:
		m.tool(number, in, earlier, limit)
	case events.ContextCompacted:
		m.entry(number+": the agent's own summary of its conversation so far", clean(e.Summary), limit)
	case events.AgentStopped:
		m.line(number+": the agent stopped", "")
	case nil:
		m.line(number, "(erased since)")
	default:
		m.line(number+": "+string(events.KindOf(e)), "")
	}
}

// tool writes a tool call: one line if it is trivial, else what went in and what came out.
func (m *message) tool(number string, in observer.Input, earlier []events.Event, limit int) {
	t := in.Call()
	label := number + ": " + m.nameOf(t.Tool)
	if t.SubagentID != "" {
		label += ", by subagent " + m.nameOf(t.SubagentType)
	}
	if Trivial(in, earlier) {
		m.line(label, gist(t))
		return
	}
	switch {
	case t.Refused:
		label += ", refused by the person, never run"
	case t.Failed:
		label += ", failed"
	}
	m.entry(label, readable(t.Input), limit)
	m.field(number+" output", readable(t.Output), limit)
}

// gist is a trivial call in a line: what was asked.
func gist(call *evidence.Call) string {
	shape := call.Shape()
	what := shape.Command + shape.Query
	if read, _ := call.Files(); what == "" && len(read) > 0 {
		return strings.Join(read, ", ") + " (unchanged)"
	}
	if what == "" {
		what = readable(call.Input)
	}
	return what
}
