package capture

import (
	"fmt"
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
		t.Errorf("got %d known before, want the opening and the one prompt that hooks told of: %+v", got.Duplicates, got)
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
