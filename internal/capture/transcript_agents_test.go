package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// chat is what Gemini CLI writes of one session: a prompt an hour, from first on.
func chat(name string, first time.Time, n int) string {
	lines := []string{fmt.Sprintf(`{"sessionId":%q,"startTime":%q,"kind":"main","directories":["/src/shop"]}`, name, first.Format(time.RFC3339))}
	for i := range n {
		at := first.Add(time.Duration(i) * time.Hour).Format(time.RFC3339)
		lines = append(lines, fmt.Sprintf(`{"id":"u%d","timestamp":%q,"type":"user","content":"do number %d"}`, i, at, i))
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestGeminiIsToldOnce: hooks and chats of Gemini CLI have no ids in common. What a chat says of the time since hooks tell of
// its session is not recorded again, what it says of the time before is.
func TestGeminiIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	post := func(event, rest string, at time.Time) {
		t.Helper()
		body := fmt.Sprintf(`{"hook_event_name":%q,"session_id":"both","cwd":"/src/shop"%s}`, event, rest)
		if _, err := w.client.Hook(t.Context(), "gemini-cli", []byte(body), newID(), at); err != nil {
			t.Fatal(err)
		}
	}
	post("SessionStart", `,"source":"resume"`, first.Add(110*time.Minute))
	post("BeforeAgent", `,"prompt":"do number 2"`, first.Add(2*time.Hour))
	got, err := w.client.Ingest(t.Context(), "gemini-cli", "/t/both.jsonl", strings.NewReader(chat("both", first, 3)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Duplicates != 2 {
		t.Errorf("got %d known before, want the opening and the one prompt that hooks reported: %+v", got.Duplicates, got)
	}
	if got := promptsOf(t, w, "gemini-cli", "both"); got != "do number 2,do number 0,do number 1" {
		t.Errorf("recorded %s", got)
	}
	// A session that no hook told of is taken whole, and once.
	for range 2 {
		if _, err := w.client.Ingest(t.Context(), "gemini-cli", "/t/alone.jsonl", strings.NewReader(chat("alone", first, 3))); err != nil {
			t.Fatal(err)
		}
	}
	if got := promptsOf(t, w, "gemini-cli", "alone"); got != "do number 0,do number 1,do number 2" {
		t.Errorf("recorded %s", got)
	}
}

// TestGeminisLastWords: Gemini CLI's hook gives the whole answer. What was said between tool calls is on record by itself, and goes from
// the answer's end.
func TestGeminisLastWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "chat.jsonl")
	text := chat("s", at, 1)
	for i, said := range []string{"I look.", "It is small."} {
		text += fmt.Sprintf(`{"id":"g%d","timestamp":%q,"type":"gemini","content":%q,"toolCalls":[{"id":"c%d","name":"read_file","args":{},"status":"success"}]}`,
			i, at.Add(time.Second).Format(time.RFC3339), said, i) + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2]string{
		"the whole answer": {"I look.\nIt is small.\nIt was raised.", "It was raised."},
		"another answer":   {"It was raised.", "It was raised."},
		"without an end":   {"I look.\nIt is small.", "I look.\nIt is small."},
		"a part of it":     {"It is small.\n\nIt was raised.", "It was raised."},
	} {
		w.pipeline.remarks.forget()
		body := fmt.Sprintf(`{"hook_event_name":"AfterAgent","session_id":"s","cwd":"/src/shop","transcript_path":%q,"prompt":"x","prompt_response":%q}`, path, c[0])
		if _, err := w.client.Hook(t.Context(), "gemini-cli", []byte(body), newID(), at.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		var last string
		for _, r := range w.records(t) {
			if e, err := r.Event(); err == nil && r.Kind == events.KindAgentStopped {
				last = e.(events.AgentStopped).LastMessage
			}
		}
		if last != c[1] {
			t.Errorf("%s: the last words are %q, want %q", name, last, c[1])
		}
	}
	if n := w.count(t, events.KindAgentSaid); n != 2 {
		t.Errorf("%d texts between tool calls are on record, want 2", n)
	}
}

// TestAFollowedChatLearnsOfHooks: hooks that begin to tell of a session while its chat is followed are believed from then on.
func TestAFollowedChatLearnsOfHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	following, err := w.pipeline.Open("gemini-cli", "/t/s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(chat("s", first, 3), "\n")
	if _, err := following.Take(t.Context(), strings.NewReader(lines[0]+lines[1]), false); err != nil {
		t.Fatal(err)
	}
	body := `{"hook_event_name":"SessionStart","session_id":"s","cwd":"/src/shop","source":"resume"}`
	if _, err := w.client.Hook(t.Context(), "gemini-cli", []byte(body), newID(), first.Add(30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, err = following.Take(t.Context(), strings.NewReader(lines[2]+lines[3]), true)
	if n := following.(*feed).in.out.Duplicates; err != nil || n != 2 {
		t.Errorf("%d were known before, error %v; want two", n, err)
	}
	if got := promptsOf(t, w, "gemini-cli", "s"); got != "do number 0" {
		t.Errorf("recorded %s", got)
	}
}

// promptsOf lists the prompts that a session's stream holds, in its order.
func promptsOf(t *testing.T, w *world, agent, name string) string {
	t.Helper()
	var texts []string
	for r, err := range w.log.Stream(t.Context(), events.SessionIDOf(agent, name).Stream(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := r.Event()
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := e.(events.PromptSubmitted); ok {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, ",")
}
