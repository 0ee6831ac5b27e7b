package agents

import (
	"strings"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
)

// Texts cleans the texts of one imported event as those of hooks and transcripts are cleaned: valid UTF-8 without control
// characters, private text, injected memory and secrets. It is not safe for concurrent use.
type Texts struct {
	v   scrubber
	cut bool
}

// NewTexts returns one for the next event. Redact takes secrets out; nil: nothing does.
func NewTexts(redact Redact) *Texts { return &Texts{v: scrubber{redact: redact}} }

// Prose is s as it may be recorded, at most MaxText bytes of it. Private reports whether private text was cut.
func (t *Texts) Prose(s string) (out string, private bool) {
	s, private = clean(s)
	s = t.v.text(s)
	t.cut = t.cut || len(s) > MaxText
	return capText(s, MaxText), private
}

// Name is an id or a short name, on one line and at most 512 bytes long.
func (t *Texts) Name(s string) string {
	s, _ = clean(s)
	return cleanName(t.v.text(s), maxName)
}

// Path is the name of a file or folder; one that is longer than any file system takes is none.
func (t *Texts) Path(s string) string {
	s, _ = clean(s)
	if len(s) > maxPath {
		return ""
	}
	return t.v.text(s)
}

// Prompt is what a person said. Machine reports that no person did: then it is nothing.
func (t *Texts) Prompt(s string) (p events.PromptSubmitted, machine bool) {
	p, machine = t.v.promptSubmitted(s)
	t.cut = t.cut || p.Size > MaxPrompt && len(p.Text) > MaxPrompt-utf8.UTFMax
	return p, machine
}

// Use fills in what a tool was given and what came of it, each JSON or plain text: nothing of a call of this memory's tools.
func (t *Texts) Use(u events.ToolUsed, input, output string) events.ToolUsed {
	if isMemoryCall(u.Tool, "", []byte(input)) {
		u = ownCall(u, []byte(input), len(output))
	} else {
		u.Input, u.InputSize = t.tool(input)
		u.Output, u.OutputSize = t.tool(output)
	}
	u.Redactions = t.v.found
	return u
}

func (t *Texts) tool(s string) (kept string, size int) {
	raw := []byte(s)
	if k := kindOf(raw); (k == '{' || k == '[') && checkJSON(raw) == nil {
		kept, size = t.v.toolText(raw, nil)
	} else {
		kept, size = t.v.plainText(s)
	}
	_, said, _ := strings.Cut(leftOut, "%d")
	t.cut = t.cut || size > MaxText && strings.Contains(kept, said)
	return kept, size
}

// Cut reports whether one of the texts so far was longer than is kept of it.
func (t *Texts) Cut() bool { return t.cut }
