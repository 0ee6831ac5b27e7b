package extractive

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// turn is one answer of an agent, as a session would ask to have it observed.
type turn struct {
	request, message string
	inputs           []observer.Input
}

type transcriptLine struct {
	Type             string
	IsMeta           bool
	IsSidechain      bool
	IsCompactSummary bool
	Cwd              string
	Timestamp        time.Time
	ToolUseResult    json.RawMessage
	Message          struct{ Content json.RawMessage }
}

type contentPart struct {
	Type, Text, ID, Name string
	Input                json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	Content              json.RawMessage
	IsError              bool `json:"is_error"`
}

// reader folds the lines of a Claude Code transcript into turns.
type reader struct {
	turns []turn
	calls map[string]events.ToolUsed
}

func readTranscript(tb testing.TB, path string) (cwd string, turns []turn) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r := reader{calls: map[string]events.ToolUsed{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		var l transcriptLine
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			continue
		}
		if cwd == "" {
			cwd = l.Cwd
		}
		r.line(l)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return cwd, r.turns
}

func (r *reader) line(l transcriptLine) {
	var whole string
	var parts []contentPart
	if json.Unmarshal(l.Message.Content, &whole) == nil && whole != "" {
		parts = []contentPart{{Type: "text", Text: whole}}
	} else if json.Unmarshal(l.Message.Content, &parts) != nil {
		return
	}
	for _, p := range parts {
		switch {
		case p.Type == "tool_result":
			r.result(l, p)
		case p.Type == "tool_use":
			u := events.ToolUsed{ToolUseID: p.ID, Tool: p.Name, Input: string(p.Input), Cwd: l.Cwd}
			if l.IsSidechain {
				u.SubagentID, u.SubagentType = "side", "general-purpose"
			}
			r.calls[p.ID] = u
		case p.Type == "text" && l.Type == "user" && l.IsCompactSummary:
			r.add(l, events.ContextCompacted{Summary: p.Text})
		case p.Type == "text" && l.Type == "user" && !l.IsMeta && !l.IsSidechain && !machineMade(p.Text):
			r.turns = append(r.turns, turn{request: p.Text})
		case p.Type == "text" && l.Type == "assistant" && !l.IsSidechain && len(r.turns) > 0 && strings.TrimSpace(p.Text) != "" && p.Text != "No response requested.":
			r.turns[len(r.turns)-1].message = p.Text
		}
	}
}

func machineMade(s string) bool {
	for _, prefix := range []string{"<local-command-", "<command-name>/exit", "<command-name>/model", "<command-name>/mcp", "[Request interrupted", "Caveat: ", "<task-notification>"} {
		if strings.HasPrefix(strings.TrimSpace(s), prefix) {
			return true
		}
	}
	return false
}

func (r *reader) result(l transcriptLine, p contentPart) {
	u, ok := r.calls[p.ToolUseID]
	if !ok {
		return
	}
	u.Output, u.Failed = string(p.Content), p.IsError
	if strings.HasPrefix(string(l.ToolUseResult), "{") && !p.IsError {
		u.Output = string(l.ToolUseResult)
	}
	r.add(l, u)
}

func (r *reader) add(l transcriptLine, e events.Event) {
	if len(r.turns) == 0 {
		r.turns = append(r.turns, turn{})
	}
	t := &r.turns[len(r.turns)-1]
	t.inputs = append(t.inputs, observer.Input{Position: events.Position(len(t.inputs) + 1), At: l.Timestamp, Event: e})
}

// publicTranscripts are the recorded sessions beside the repository, if they are there.
func publicTranscripts(tb testing.TB) []string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		found, _ := filepath.Glob(filepath.Join(dir, "shared/fixtures/transcripts/public/claude-code/*.jsonl"))
		if len(found) > 0 {
			return found
		}
	}
	tb.Skip("no recorded sessions beside the repository")
	return nil
}

// prompts are the turn's two prompts: of the observation turn and, given what came of it, of the summary turn.
func (t turn) observation(cwd string) observer.Prompt {
	return observer.Prompt{
		Kind: events.TurnObservation, Attempt: 1, Project: filepath.Base(cwd), Cwd: cwd, Agent: "claude-code",
		Request: t.request, Message: t.message, Inputs: t.inputs, Stop: events.StopDone,
	}
}

func (t turn) summary(cwd string, list []observer.Observation) observer.Prompt {
	p := t.observation(cwd)
	p.Kind, p.Inputs = events.TurnSummary, nil
	for _, o := range list {
		p.Observed = append(p.Observed, events.ObservationParsed{
			Type: o.Type, Title: o.Title, Subtitle: o.Subtitle, Narrative: o.Narrative, Facts: o.Facts, Concepts: o.Concepts,
			FilesRead: o.FilesRead, FilesModified: o.FilesModified,
		})
	}
	return p
}
