package agents

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestReply(t *testing.T) {
	t.Parallel()
	const both = `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"a <b>"},"systemMessage":"n"}`
	for _, c := range []struct {
		event string
		a     Answer
		want  string
	}{
		{"SessionStart", Answer{Context: "a <b>", Notice: "n"}, both},
		{"SessionStart", Answer{Context: "a"}, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"a"}}`},
		{"SessionStart", Answer{Notice: "n"}, `{"systemMessage":"n"}`},
		{"SessionStart", Answer{}, ""},
		{"Stop", Answer{Context: "a", Notice: "n"}, ""},
		{"SubagentStop", Answer{Context: "a", Notice: "n"}, ""},
		{"SessionEnd", Answer{Context: "a"}, ""},
		{"PostToolUse", Answer{Context: "a"}, ""},
		{"PreToolUse", Answer{Context: "a", Notice: "n"}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"a"}}`},
		{"PreToolUse", Answer{Notice: "n"}, ""},
		{"UserPromptSubmit", Answer{Context: "a"}, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"a"}}`},
		{"UserPromptSubmit", Answer{Notice: "n"}, ""},
	} {
		if got := string(ClaudeCode{}.Reply(Report{Event: c.event}, c.a)); got != c.want {
			t.Errorf("%s, %+v: got %s, want %s", c.event, c.a, got, c.want)
		}
	}
}

// TestReplyFits: any context gives JSON whose context has at most MaxContext characters and ends as a fence does.
func TestReplyFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "é", "🎉", "日\n", "\xff"}).Draw(t, "unit")
		n := rapid.IntRange(MaxContext/2-50, MaxContext+50).Draw(t, "n")
		fenced := rapid.Bool().Draw(t, "fenced")
		context := strings.Repeat(unit, n)
		if fenced {
			context = ContextOpen + "\n" + context + "\n" + ContextClose
		}
		reply := ClaudeCode{}.Reply(Report{Event: "SessionStart"}, Answer{Context: context, Notice: unit})
		var got contextReply
		if err := json.Unmarshal(reply, &got); err != nil {
			t.Fatalf("reply: %v", err)
		}
		if units := characters(got.Output.Context); units > MaxContext {
			t.Fatalf("got %d characters, want at most %d", units, MaxContext)
		}
		if fenced && !strings.HasSuffix(got.Output.Context, ContextClose) {
			t.Fatalf("the fence is open: %q", got.Output.Context[len(got.Output.Context)-30:])
		}
	})
	whole := strings.Repeat("x", MaxContext)
	if got := capContext(whole); got != whole {
		t.Errorf("a context of exactly %d characters was shortened to %d", MaxContext, len(got))
	}
	if got := capContext(whole + "x"); characters(got) != MaxContext {
		t.Errorf("got %d characters, want %d", characters(got), MaxContext)
	}
}
