package capture

import (
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
)

// TestChatsWaitForTheSpool: what hooks of Gemini CLI left in the spool is recorded before a chat of the same session is taken
// in, so that the chat repeats nothing of it. Agents whose hooks and transcripts have keys in common do not wait.
func TestChatsWaitForTheSpool(t *testing.T) {
	t.Parallel()
	var open atomic.Bool
	both := events.SessionIDOf("gemini-cli", "both")
	w := newWorld(t, func(c *Config) {
		real := c.Sink
		c.Sink = fakeSink(func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
			if id == both && !open.Load() {
				return actors.Receipt{}, actors.ErrBusy
			}
			return real.Do(ctx, id, cmds...)
		})
		c.DrainEvery = 200 * time.Millisecond // longer than an ingest would take to try again
		first := []byte(`{"hook_event_name":"BeforeAgent","session_id":"both","cwd":"/src/shop","prompt":"do number 0"}`)
		w := &world{home: c.Home}
		w.spool(t, "gemini-cli", newID(), 1, first)
	})
	began := time.Date(2026, 11, 20, 10, 0, 1, 0, time.UTC)
	type answer struct {
		got Ingested
		err error
	}
	done := make(chan answer, 1)
	go func() {
		got, err := w.client.Ingest(t.Context(), "gemini-cli", "/t/both.jsonl", strings.NewReader(chat("both", began, 3)))
		done <- answer{got, err}
	}()
	other := fmt.Sprintf(`{"type":"user","uuid":"u","sessionId":"other","cwd":"/src/shop","timestamp":%q,"promptId":"p","message":{"content":"go"}}`, began.Format(time.RFC3339))
	if got, err := w.client.Ingest(t.Context(), "claude-code", "/t/other.jsonl", strings.NewReader(other)); err != nil || got.Captured != 2 {
		t.Errorf("a transcript of Claude Code: got %+v, %v; want its prompt at once", got, err)
	}
	select {
	case <-w.pipeline.Drained():
		t.Error("the spool counts as drained while an entry waits")
	case a := <-done:
		t.Errorf("the chat was taken in before the spool: %+v", a)
	case <-time.After(100 * time.Millisecond):
	}
	open.Store(true)
	if a := <-done; a.err != nil || a.got.Duplicates != 4 {
		t.Errorf("got %+v, %v; want the session and three prompts, of which hooks tell", a.got, a.err)
	}
	if got := promptsOf(t, w, "gemini-cli", "both"); got != "do number 0" {
		t.Errorf("recorded %s, want what the hook told of alone", got)
	}
}

// TestNothingToDrain: a server without a spool has nothing to wait for.
func TestNothingToDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Spool = nil })
	select {
	case <-w.pipeline.Drained():
	case <-time.After(patience):
		t.Error("a server without a spool is not drained")
	}
}

// TestASpoolThatCannotBeReadHoldsUpNoChat: there is nothing to wait for.
func TestASpoolThatCannotBeReadHoldsUpNoChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) {
		if err := os.WriteFile(filepath.Join(c.Home, "spool"), []byte("no folder"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	began := time.Date(2026, 11, 20, 10, 0, 1, 0, time.UTC)
	got, err := w.client.Ingest(t.Context(), "gemini-cli", "/t/alone.jsonl", strings.NewReader(chat("alone", began, 2)))
	if err != nil || got.Captured == 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
