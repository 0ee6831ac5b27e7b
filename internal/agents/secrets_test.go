package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/secrets"
)

func redacting() Redact {
	r := redact.New()
	return func(s string, json bool) (string, map[string]int) {
		if json {
			return r.JSON(s)
		}
		return r.Text(s)
	}
}

// TestSecretsAreTakenOut reports each secret in each place where a payload may hold one: none is captured, each is counted.
func TestSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	meta := Meta{Delivery: events.ID{1}, OccurredAt: time.Unix(1e9, 0), Redact: redacting()}
	for _, s := range secrets.Make(11) {
		text, _ := json.Marshal("before\n" + s.Text + "\nafter")
		for name, body := range map[string]string{
			"prompt":     `"hook_event_name":"UserPromptSubmit","prompt":%s`,
			"input":      `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":%s},"tool_response":{"stdout":"x"}`,
			"output":     `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"x"},"tool_response":{"stdout":%s}`,
			"plain":      `"hook_event_name":"PostToolUse","tool_name":"mcp__x__y","tool_input":{},"tool_response":%s`,
			"failure":    `"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{},"error":%s`,
			"stop":       `"hook_event_name":"Stop","last_assistant_message":%s`,
			"stopped":    `"hook_event_name":"StopFailure","error":%s`,
			"subagent":   `"hook_event_name":"SubagentStop","agent_type":"Explore","agent_id":"a","last_assistant_message":%s`,
			"compaction": `"hook_event_name":"PostCompact","compact_summary":%s`,
		} {
			r, err := ClaudeCode{}.Decode(fmt.Appendf(nil, `{"session_id":"s","cwd":"/w",`+body+`}`, text), meta)
			if err != nil || len(r.Captures) != 1 {
				t.Fatalf("%s: %v, captured %d", name, err, len(r.Captures))
			}
			checkTaken(t, name, s, r.Captures[0])
		}
	}
}

func checkTaken(t *testing.T, name string, s secrets.Secret, c session.Capture) {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	find, _ := json.Marshal(s.Find)
	var got struct {
		Event struct {
			Redactions map[string]int `json:"redactions"`
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), string(find[1:len(find)-1])) || strings.Contains(string(b), s.Find) {
		t.Errorf("%s, %s: %q stands in %s", name, s.Rule, s.Find, b)
	}
	if diff := cmp.Diff(map[string]int{s.Rule: 1}, got.Event.Redactions); diff != "" {
		t.Errorf("%s: counted (-want +got):\n%s", name, diff)
	}
}

// TestSecretsAtTheCut: whatever is cut away of a long text, no half of a secret stays.
func TestSecretsAtTheCut(t *testing.T) {
	t.Parallel()
	r := redacting()
	all := secrets.Make(5)
	for i, s := range race.Sample(all) {
		for _, at := range []int{MaxText / 2, MaxText} {
			for shift := range 3 {
				before := strings.Repeat("word ", at/5)[:at-20-len(s.Text)*shift/2] + "\n"
				text := before + s.Text + "\n" + strings.Repeat(" more", MaxText/5)
				checkHalves(t, s, (&scrubber{redact: r}).message(text))
				raw, _ := json.Marshal(map[string]string{"stdout": text, "stderr": all[(i+1)%len(all)].Text})
				kept, _ := (&scrubber{redact: r}).toolText(raw, nil)
				checkHalves(t, s, kept)
				if !json.Valid([]byte(kept)) || len(kept) > MaxText {
					t.Errorf("%s: %d bytes, no JSON", s.Rule, len(kept))
				}
			}
		}
	}
}

// checkHalves looks for each part of ten characters: a mark says none of them.
func checkHalves(t *testing.T, s secrets.Secret, kept string) {
	t.Helper()
	for i := 0; i+10 <= len(s.Find); i += 5 {
		if strings.Contains(kept, s.Find[i:i+10]) {
			t.Errorf("%s: %q of %q was kept", s.Rule, s.Find[i:i+10], s.Find)
			return
		}
	}
}

// TestSecretsInTranscripts: what a transcript says goes through the same.
func TestSecretsInTranscripts(t *testing.T) {
	t.Parallel()
	for _, s := range secrets.Make(8) {
		text, _ := json.Marshal(s.Text)
		lines := fmt.Sprintf(`{"type":"user","sessionId":"s","cwd":"/w","uuid":"1","timestamp":"2025-01-02T03:04:05Z","message":{"content":%[1]s}}
{"type":"assistant","uuid":"2","timestamp":"2025-01-02T03:04:06Z","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":%[1]s}}]}}
{"type":"user","uuid":"3","timestamp":"2025-01-02T03:04:07Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%[1]s}]}}
{"type":"assistant","uuid":"4","timestamp":"2025-01-02T03:04:08Z","message":{"content":[{"type":"text","text":%[1]s}]}}
`, text)
		tr := ClaudeCode{}.Transcript(strings.NewReader(lines), "/t/s.jsonl")
		tr.Redact = redacting()
		n := 0
		for c, err := range tr.Captures() {
			if err != nil {
				t.Fatal(err)
			}
			if u, ok := c.Event.(events.ToolUsed); ok {
				u.Redactions[s.Rule]-- // in its input too
				c.Event = u
			}
			if _, ok := c.Event.(events.SessionOpened); !ok {
				checkTaken(t, "transcript", s, c)
				n++
			}
		}
		if n != 3 {
			t.Errorf("captured %d", n)
		}
	}
}

// TestAFactHasOneKey: whether its secret came as it was or was taken out on the way, in the spool.
func TestAFactHasOneKey(t *testing.T) {
	t.Parallel()
	r := redacting()
	meta := Meta{Delivery: events.ID{1}, OccurredAt: time.Unix(1e9, 0), Redact: r}
	for _, s := range secrets.Make(2) {
		text, _ := json.Marshal("look: " + s.Text)
		body := fmt.Sprintf(`{"session_id":"s","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt_id":"p","prompt":%s}`, text)
		spooled, _ := r(body, true)
		a, err := ClaudeCode{}.Decode([]byte(body), meta)
		b, err2 := ClaudeCode{}.Decode([]byte(spooled), meta)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if a.Captures[0].Key != b.Captures[0].Key || body == spooled {
			t.Errorf("%s: two keys", s.Rule)
		}
	}
}

// TestCountsOnTheWayAreAdded: what was taken out before is counted with what is found, and the counts that were given stay.
func TestCountsOnTheWayAreAdded(t *testing.T) {
	t.Parallel()
	before := map[string]int{"a": 2, "b": 1}
	for name, c := range map[string]struct {
		body  string
		texts int // that are searched for secrets: of a tool its folder too
	}{
		"prompt":     {`"hook_event_name":"UserPromptSubmit","prompt":"x"`, 1},
		"tool":       {`"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"x"},"tool_response":{"stdout":"y"}`, 3},
		"memory":     {`"hook_event_name":"PostToolUse","tool_name":"mcp__cmemd__search","tool_input":{"query":"x"},"tool_response":"y"`, 1},
		"stop":       {`"hook_event_name":"Stop","last_assistant_message":"x"`, 1},
		"compaction": {`"hook_event_name":"PostCompact","compact_summary":"x"`, 1},
	} {
		for _, redact := range []Redact{nil, func(s string, _ bool) (string, map[string]int) { return s, map[string]int{"a": 1} }} {
			meta := Meta{Delivery: events.ID{1}, OccurredAt: time.Unix(1e9, 0), Redact: redact, Redactions: before}
			r, err := ClaudeCode{}.Decode([]byte(`{"session_id":"s","cwd":"/w",`+c.body+`}`), meta)
			if err != nil || len(r.Captures) != 1 {
				t.Fatalf("%s: %v, captured %d", name, err, len(r.Captures))
			}
			got := redactionsOf(r.Captures[0].Event)
			want := map[string]int{"a": 2, "b": 1}
			if redact != nil {
				want["a"] += c.texts
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s: counted %v, want %v", name, got, want)
			}
		}
	}
	if before["a"] != 2 || len(before) != 2 {
		t.Errorf("the counts that were given are %v now", before)
	}
}

// TestCountsOnTheWayAreAddedOnce: a payload that becomes two captures has them on the first that there is.
func TestCountsOnTheWayAreAddedOnce(t *testing.T) {
	t.Parallel()
	meta := Meta{Delivery: events.ID{1}, OccurredAt: time.Unix(1e9, 0), Redactions: map[string]int{"a": 2}}
	for asked, want := range map[string][]int{`["x"]`: {2, 0}, `[]`: {2}} {
		r, err := Codex{}.Decode([]byte(`{"type":"agent-turn-complete","thread-id":"s","turn-id":"t","cwd":"/w","input-messages":`+
			asked+`,"last-assistant-message":"y"}`), meta)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, c := range r.Captures {
			got = append(got, redactionsOf(c.Event)["a"])
		}
		if !slices.Equal(got, want) {
			t.Errorf("asked %s: counted %v, want %v", asked, got, want)
		}
	}
}

// TestCountsOfAnImportedMemoryCall: what was taken out of its other texts is counted, though it keeps none of its own.
func TestCountsOfAnImportedMemoryCall(t *testing.T) {
	t.Parallel()
	texts := NewTexts(func(s string, _ bool) (string, map[string]int) { return s, map[string]int{"a": 1} })
	cwd := texts.Path("/w")
	u := texts.Use(events.ToolUsed{Tool: "mcp__cmemd__search", Cwd: cwd}, `{"query":"x"}`, "y")
	if u.Redactions["a"] != 1 || u.Input != "" || u.Output != "" {
		t.Errorf("got %+v, want one redaction and no text", u)
	}
}

func redactionsOf(e events.Event) map[string]int {
	switch e := e.(type) {
	case events.PromptSubmitted:
		return e.Redactions
	case events.ToolUsed:
		return e.Redactions
	case events.AgentStopped:
		return e.Redactions
	case events.ContextCompacted:
		return e.Redactions
	}
	return nil
}
