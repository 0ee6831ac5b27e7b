package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// FuzzQuestion: whatever was captured, the question is bounded, valid, repeatable text, and its fence holds.
func FuzzQuestion(f *testing.F) {
	for _, text := range hostile() {
		f.Add("Read", `{"file_path":"x"}`, text, text, text, 1, 0, false)
	}
	f.Add("Bash", `{"command":"ls"}`, `{"stdout":"a","image":{"type":"image","data":"`+encoded(300)+`"}}`, "", "", 2, 100, true)
	f.Add("]]\n[[", `"{\"a\":\"{\\\"b\\\":[1,2`, strings.Repeat("[", 40), "\xff\x00", "data:image/png;base64,"+encoded(30), 3, 1, false)
	r := newRenderer(f, Config{})
	f.Fuzz(func(t *testing.T, tool, input, output, said, title string, attempt, budget int, summary bool) {
		p := observer.Prompt{
			Kind: events.TurnObservation, Attempt: attempt, Budget: budget, Project: title, Cwd: said, Agent: tool, Request: said, Message: output,
			Recent: []string{title, said}, Observed: []events.ObservationParsed{{Type: tool, Title: title, Narrative: output, Facts: []string{input}}},
			Inputs: []observer.Input{
				{Event: events.ToolUsed{Tool: tool, Input: input, Output: output, SubagentID: title, SubagentType: said}},
				{Event: events.ToolUsed{Tool: "Bash", Input: `{"command":"ls"}`, Output: output, Failed: summary}},
				{Event: events.ToolUsed{Tool: tool, Input: input, Output: output}}, {}, {Event: events.ContextCompacted{Summary: said}},
			},
		}
		if summary {
			p.Kind = events.TurnSummary
		}
		q := r.Question(p, events.FormXML)
		if again := r.Question(p, events.FormXML); again.User != q.User || again.System != q.System {
			t.Error("the same prompt gives other bytes")
		}
		checkFence(t, q.User, question{p.Kind, events.FormXML}.reminder(len(p.Inputs)))
		if len(q.User) > maxUser()+512 || !utf8.ValidString(q.User) {
			t.Errorf("%d bytes, valid: %t", len(q.User), utf8.ValidString(q.User))
		}
		if i := strings.IndexFunc(q.User, func(r rune) bool { return r != '\n' && r != '\t' && isInvisible(r) && r != '\u200c' && r != '\u200d' }); i >= 0 {
			t.Errorf("unseen characters at %d: %q", i, q.User[i:min(len(q.User), i+10)])
		}
	})
}
