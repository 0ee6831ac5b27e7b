package capture

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/agents/watch"
	"github.com/cmemd/cmemd/internal/refusal"
)

// A transcript that grows in pieces of any size, in the middle of lines too, leads to what it leads to when it is read at
// once.
func TestFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const rounds = 40
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	text := transcript("growing", rounds)
	f, err := w.pipeline.Open("claude-code", "/t/growing.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var got watch.Taken
	for end := 0; end < len(text); {
		end = min(end+1+random.IntN(len(text)/20), len(text))
		if got, err = f.Take(t.Context(), bytes.NewReader(text[got.Offset:end]), random.IntN(4) == 0); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if got, err = f.Take(t.Context(), strings.NewReader(""), true); err != nil {
		t.Fatal(err)
	}
	if got.Offset != int64(len(text)) || got.Lines < 4*rounds || got.Captured != 1+3*rounds || got.Bad != 0 {
		t.Errorf("seed %d: got %+v", seed, got)
	}
	again, err := w.client.Ingest(t.Context(), "claude-code", "/t/growing.jsonl", bytes.NewReader(text))
	if err != nil || again.Captured != 0 || again.Duplicates != got.Captured {
		t.Errorf("seed %d: read at once it gives %+v, %v; want what is known", seed, again, err)
	}
	if tools, stops := w.count(t, events.KindToolUsed), w.count(t, events.KindAgentStopped); tools != rounds || stops != rounds {
		t.Errorf("seed %d: %d tool uses and %d stops of %d rounds", seed, tools, stops, rounds)
	}
}

// The agent's last words are its answer when nothing comes behind them, and not before.
func TestFeedRests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	f, err := w.pipeline.Open("claude-code", "/t/s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 1, 1} {
		text := ""
		if i == 0 {
			text = string(transcript("resting", 1))
		}
		if _, err := f.Take(t.Context(), strings.NewReader(text), i > 0); err != nil {
			t.Fatal(err)
		}
		if n := w.count(t, events.KindAgentStopped); n != want {
			t.Errorf("take %d: %d stops, want %d", i, n, want)
		}
	}
	if _, err := w.pipeline.Open("nobody", "/t/s.jsonl"); !errors.Is(err, agents.ErrUnknownAgent) {
		t.Errorf("got %v, want %v", err, agents.ErrUnknownAgent)
	}
}

// A line of ten megabytes comes whole or later, and those around it are not lost.
func TestFeedOfALongLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	long := fmt.Sprintf(`{"type":"user","uuid":"u-long","sessionId":"long","cwd":"/src/shop","timestamp":"2026-11-20T10:30:00Z","promptId":"p-long","message":{"role":"user","content":"%s"}}`,
		strings.Repeat("all work and no play ", 500_000))
	text := string(transcript("long", 1)) + long + "\n" + string(transcript("long", 1))
	f, err := w.pipeline.Open("claude-code", "/t/long.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	half := strings.Index(text, long) + len(long)/2
	got, err := f.Take(t.Context(), strings.NewReader(text[:half]), false)
	if err != nil || got.Lines != 4 || f.(*feed).t.Progress().Partial != int64(len(long)/2) {
		t.Fatalf("half of the line: %+v, %v", got, err)
	}
	got, err = f.Take(t.Context(), strings.NewReader(text[got.Offset:]), true)
	if err != nil || got.Lines != 9 || got.Bad != 0 || got.Offset != int64(len(text)) {
		t.Errorf("all of it: %+v, %v", got, err)
	}
	if n := w.count(t, events.KindPromptSubmitted); n != 3 {
		t.Errorf("%d prompts, want 3", n)
	}
}

// TestFeedOfUTF16: a text in UTF-16 is refused whole, and read when it was converted.
func TestFeedOfUTF16(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	text := transcript("wide", 3)
	for mark, at := range map[string]int{"\xff\xfe": 0, "\xfe\xff": 1} {
		wide := make([]byte, 2*len(text))
		for i, b := range text {
			wide[2*i+at] = b
		}
		wide = append([]byte(mark), wide...)
		f, err := w.pipeline.Open("claude-code", "/t/wide.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Take(t.Context(), bytes.NewReader(wide), true); !errors.Is(err, agents.ErrUTF16) || got != (watch.Taken{}) {
			t.Errorf("%q followed: got %+v, %v", mark, got, err)
		}
		_, err = w.client.Ingest(t.Context(), "claude-code", "/t/wide.jsonl", bytes.NewReader(wide))
		if r := refusal.Of(err); r == nil || r.Kind != refusal.Invalid || !strings.Contains(r.Detail, "UTF-16") {
			t.Errorf("%q ingested: got %v", mark, err)
		}
	}
	if n := w.count(t, events.KindToolUsed); n != 0 {
		t.Errorf("%d tool uses are recorded of it", n)
	}
	if got, err := w.client.Ingest(t.Context(), "claude-code", "/t/wide.jsonl", bytes.NewReader(text)); err != nil || got.Captured != 10 || got.Malformed != 0 {
		t.Errorf("converted: got %+v, %v", got, err)
	}
}
