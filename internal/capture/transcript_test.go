package capture

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/refusal"
)

func TestIngest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const rounds = 300
	text := transcript("old-session", rounds)
	got, err := w.client.Ingest(t.Context(), "claude-code", "/t/old-session.jsonl", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	id := events.SessionIDOf("claude-code", "old-session")
	if got.Lines != rounds*4 || got.Malformed != 0 || got.Duplicates != 0 || got.Captured != 1+3*rounds || got.Offset != int64(len(text)) ||
		len(got.Sessions) != 1 || got.Sessions[0] != id || got.Position == 0 {
		t.Errorf("got %+v, want all of %d rounds", got, rounds)
	}
	if n := w.count(t, events.KindToolUsed); n != rounds {
		t.Errorf("got %d tool uses on record, want %d", n, rounds)
	}
	opened, err := w.records(t)[0].Event()
	if err != nil {
		t.Fatal(err)
	}
	if o := opened.(events.SessionOpened); o.Project != "shop" || o.Source != "transcript" || o.GitHead != "" || o.Transcript == "" {
		t.Errorf("opened as %+v, want its project, and nothing of how the repository is now", o)
	}
	captured := got.Captured
	for _, more := range []int{0, 1} { // again, and after it grew
		grown := append(text[:len(text):len(text)], transcript("new-session", more)...)
		if got, err = w.client.Ingest(t.Context(), "claude-code", "/t/old-session.jsonl", bytes.NewReader(grown)); err != nil {
			t.Fatal(err)
		}
		if want := more * 4; got.Captured != want || got.Duplicates != captured {
			t.Errorf("%d rounds more: got %d new and %d known, want %d and %d", more, got.Captured, got.Duplicates, want, captured)
		}
	}
}

// What a hook reported is not recorded again from the transcript: neither a tool call nor how the session was opened, which would open one
// that has ended.
func TestIngestOfWhatHooksReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.post(t, toolUse("s", "toolu_s_0", "make 0", "ok"))
	got, err := w.client.Ingest(t.Context(), "claude-code", "s.jsonl", bytes.NewReader(transcript("s", 2)))
	if err != nil || got.Duplicates != 2 || w.count(t, events.KindToolUsed) != 2 || w.count(t, events.KindSessionOpened) != 1 {
		t.Errorf("got %+v, %v and %d tool uses, %d openings, want one of two known, and the opening",
			got, err, w.count(t, events.KindToolUsed), w.count(t, events.KindSessionOpened))
	}
}

func TestIngestOfBadLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	good := transcript("s", 1)
	text := "{secret\n" + string(good) + `{"type":"user","sessionId":` + strings.Repeat("9", 10) + "secret}\n" + `{"type":"weather"}` + "\n" + `{"unfinished": "sec`
	got, err := w.client.Ingest(t.Context(), "claude-code", "s.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got.Malformed != 2 || len(got.Bad) != 2 || got.Bad[0].Line != 1 || got.Bad[1].Line != 6 || got.Captured != 4 || got.Skipped["weather"] != 1 || got.Partial == 0 {
		t.Errorf("got %+v, want two bad lines, one skipped, one unfinished", got)
	}
	if strings.Contains(fmt.Sprint(got.Bad), "secret") {
		t.Errorf("bad lines are quoted: %+v", got.Bad)
	}
}

// An ingest yields to hooks: it waits while there is no room, and fails where that lasts.
func TestIngestWaitsForRoom(t *testing.T) {
	t.Parallel()
	var busy atomic.Int32
	busy.Store(3)
	w := newWorld(t, func(c *Config) {
		real := c.Sink
		c.Sink = fakeSink(func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
			if busy.Add(-1) >= 0 {
				return actors.Receipt{}, actors.ErrBusy
			}
			return real.Do(ctx, id, cmds...)
		})
	})
	got, err := w.client.Ingest(t.Context(), "claude-code", "s.jsonl", bytes.NewReader(transcript("s", 5)))
	if err != nil || got.Captured != 16 {
		t.Errorf("got %+v, %v, want all", got, err)
	}
}

// A capture that crashes its session does not take the rest of the transcript with it, and is named.
func TestIngestIsolatesWithinABatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) {
		real := c.Sink
		c.Sink = fakeSink(func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
			for _, cmd := range cmds {
				if tool, ok := cmd.(session.Capture).Event.(events.ToolUsed); ok && tool.ToolUseID == "toolu_s_3" {
					return actors.Receipt{}, fmt.Errorf("%w: secret", actors.ErrFaulted)
				}
			}
			return real.Do(ctx, id, cmds...)
		})
	})
	got, err := w.client.Ingest(t.Context(), "claude-code", "s.jsonl", bytes.NewReader(transcript("s", 6)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Captured != 18 || got.Refused != 1 || got.Malformed != 0 || len(got.Bad) != 1 || w.count(t, events.KindToolUsed) != 5 {
		t.Errorf("got %+v and %d tool uses, want all but one", got, w.count(t, events.KindToolUsed))
	}
	if len(got.Bad) == 1 && (got.Bad[0].Line != 15 || strings.Contains(got.Bad[0].Detail, "secret")) {
		t.Errorf("named as %+v, want line 15 and no word of it", got.Bad[0])
	}
}

// Where every capture is refused, none of them is to blame, and the transcript ends.
func TestIngestGivesUp(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	w := newWorld(t, func(c *Config) {
		c.Sink = fakeSink(func(context.Context, events.SessionID, ...session.Command) (actors.Receipt, error) {
			asked.Add(1)
			return actors.Receipt{}, actors.ErrFaulted
		})
	})
	_, err := w.client.Ingest(t.Context(), "claude-code", "s.jsonl", bytes.NewReader(transcript("s", 2000)))
	if r := refusal.Of(err); r == nil || r.Kind != refusal.Faulted || asked.Load() != maxRefused+2 {
		t.Errorf("got %v after %d tries, want the fault after %d", err, asked.Load(), maxRefused+2)
	}
}

// What is remembered of sessions is bounded, and what was forgotten is found in the log.
func TestIngestRemembersABoundedNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	in := newIngest(w.pipeline, func() agents.Progress { return agents.Progress{} })
	in.most = 10
	capture := func(n int) session.Capture {
		return session.Capture{
			ID: newID(), At: time.Now(), Key: events.KeyOf("test", fmt.Sprint(n)),
			Origin: session.Origin{Agent: "claude-code", AgentSession: fmt.Sprint("s", n%20), Cwd: "/src/shop"},
			Event:  events.ToolUsed{ToolUseID: fmt.Sprint("t", n), Tool: "Bash"},
		}
	}
	for range 2 {
		for n := range 100 {
			if err := in.add(t.Context(), capture(n)); err != nil {
				t.Fatal(err)
			}
			if n := len(in.keys); n > in.most {
				t.Fatalf("remembers %d sessions, want at most %d", n, in.most)
			}
		}
	}
	if err := in.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if in.out.Captured != 100 || in.out.Duplicates != 100 || len(in.order) != 20 || w.count(t, events.KindToolUsed) != 100 {
		t.Errorf("got %+v of %d sessions, want 100 new, 100 known, 20 sessions", in.out, len(in.order))
	}
}

// Real transcripts of Claude Code, where they are at hand.
func TestIngestOfRealTranscripts(t *testing.T) {
	t.Parallel()
	files := sharedTranscripts(t)
	w := newWorld(t, nil)
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		first, err := w.client.Ingest(t.Context(), "claude-code", path, bytes.NewReader(text))
		if err != nil || first.Captured == 0 {
			t.Errorf("%s: got %+v, %v", filepath.Base(path), first, err)
			continue
		}
		before := len(w.records(t))
		again, err := w.client.Ingest(t.Context(), "claude-code", path, bytes.NewReader(text))
		if err != nil || again.Captured != 0 || again.Duplicates != first.Captured+first.Duplicates {
			t.Errorf("%s, again: got %d new, %d known, %v, want 0, %d", filepath.Base(path), again.Captured, again.Duplicates, err, first.Captured)
		}
		for _, r := range w.records(t)[before:] {
			if events.IsInput(r.Kind) {
				t.Errorf("%s: an input was recorded twice: %v", filepath.Base(path), r.Header)
			}
		}
	}
}

// sharedTranscripts finds fixtures beside the repository.
func sharedTranscripts(tb testing.TB) []string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		found, err := filepath.Glob(filepath.Join(dir, "shared", "fixtures", "transcripts", "claude-code-real.jsonl"))
		if err == nil && len(found) > 0 {
			return found
		}
	}
	tb.Skip("no real transcripts beside the repository")
	return nil
}
