package extractive

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

func FuzzComplete(f *testing.F) {
	f.Add("Fix it please, now", "Done.\n- [ ] x\n```go\ny", "Bash", `{"command":"go test ./... && git commit"}`, "[main 1a2b3c4] Subject of it\n", true)
	f.Add("<command-args>x</command-args>", "1. Request: a\n2. b:", "Edit", `{"file_path":"/a/b","old_string":"`, `{"structuredPatch":[{"lines":["+a"`, false)
	f.Add("更新。\xff", "**x**\n| a |\n> q", "mcp__a__b", `{"todos":[{"content":"x","status":"y"}]}`, `[{"type":"text","text":"z"}]`, false)
	f.Add("", "?", "AskUserQuestion", `{"questions":[{"question":"a b c d e f?","options":[]}]}`, `{"answers":{"a":"b"}}`, false)
	f.Add("x", "1. Request: a\n2. b:", "Edit", "{\"file_path\":\"\xbda/b\",\"old_string\":", "", false)
	f.Fuzz(func(t *testing.T, request, message, tool, in, out string, failed bool) {
		u := events.ToolUsed{Tool: tool, Input: in, Output: out, Failed: failed, Cwd: "/src"}
		side := u
		side.SubagentID, side.SubagentType = "s", tool
		p := observer.Prompt{
			Kind: events.TurnObservation, Project: tool, Cwd: "/src", Request: request, Message: message,
			Inputs: []observer.Input{{Event: u}, {Event: side}, {Event: events.ContextCompacted{Summary: message, Trigger: tool}}, {}},
		}
		observed := ask(t, p).Observations
		ask(t, turn{request: request, message: message}.summary("/src", observed))
		ask(t, turn{request: out, message: in}.summary("/src", append(observed, observer.Observation{
			Type: tool, Title: in, Narrative: out, Facts: []string{in, "[ ] " + out}, FilesRead: []string{request}, FilesModified: []string{message},
		})))
	})
}

func FuzzFields(f *testing.F) {
	for _, s := range []string{`{"a":"b","c":{"d":[1,"}"]},"e":nul`, `{"a":"b\`, `{"a"`, `{,,"":""}`, `[{"text":"x"},{"text":`, `{"a":"\u12`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		total := 0
		for _, m := range fields(s) {
			total += len(m.key) + len(m.raw)
			unquote(m.raw)
			for _, e := range elements(m.raw) {
				if !strings.Contains(m.raw, e) {
					t.Fatalf("element %q is not in %q", e, m.raw)
				}
			}
		}
		if total > len(s) {
			t.Fatalf("%d bytes out of %d", total, len(s))
		}
		outputText(s)
	})
}
