package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
)

// agentTranscript is a transcript of Claude Code's that grows.
type agentTranscript struct {
	tb   testing.TB
	path string
	at   time.Time // of the next line
}

func newTranscript(tb testing.TB) *agentTranscript {
	return &agentTranscript{tb, filepath.Join(tb.TempDir(), "t.jsonl"), time.Now().Add(-time.Hour)}
}

// add writes lines: a text of the agent's for each word, a tool call for each "()".
func (a *agentTranscript) add(session string, words ...string) {
	a.tb.Helper()
	f, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		a.tb.Fatal(err)
	}
	defer f.Close()
	for _, w := range words {
		a.at = a.at.Add(time.Second)
		id := a.at.Format("150405.000000000")
		block := map[string]any{"type": "text", "text": w}
		if w == "()" {
			block = map[string]any{"type": "tool_use", "id": "toolu_" + id, "name": "Bash", "input": map[string]any{"command": "true"}}
		}
		line, err := json.Marshal(map[string]any{
			"type": "assistant", "sessionId": session, "cwd": "/src/shop", "uuid": id, "timestamp": a.at.UTC().Format(time.RFC3339Nano),
			"message": map[string]any{"role": "assistant", "content": []any{block}},
		})
		if err != nil {
			a.tb.Fatal(err)
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			a.tb.Fatal(err)
		}
	}
}

// happened is what is on record of a session: what was said, in quotes, and the kinds of all else.
func (w *world) happened(tb testing.TB, id string) string {
	tb.Helper()
	var out []string
	for _, r := range w.records(tb) {
		if r.Stream != events.SessionIDOf("claude-code", id).Stream() {
			continue
		}
		e, err := r.Event()
		if err != nil {
			tb.Fatal(err)
		}
		switch e := e.(type) {
		case events.AgentSaid:
			out = append(out, fmt.Sprintf("%q", e.Text))
		case events.ToolUsed, events.AgentStopped, events.SessionClosed, events.ContextCompacted:
			out = append(out, string(events.KindOf(e)))
		}
	}
	return strings.Join(out, " ")
}

// forget forgets how far transcripts were read.
func (m *remarks) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readings = nil
}

// TestRemarksAreRead: what was said between tool calls is on record before the end of the answer, once, however often the transcript
// is read; not what was said last, which the hook tells, and not another session's.
func TestRemarksAreRead(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"Stop", "StopFailure", "PostCompact", "SessionEnd"} {
		w, a := newWorld(t, nil), newTranscript(t)
		end := hook(event, "s", map[string]any{"transcript_path": a.path, "last_assistant_message": "Done.", "compact_summary": "<summary>so far</summary>"})
		a.add("s", "I look at the parser.", "()", "It reads twice.", "()")
		a.add("other", "Not mine.", "()")
		a.add("s", "Done.")
		w.post(t, toolUse("s", "toolu_1", "go test", "ok"))
		w.post(t, end)
		got := w.happened(t, "s")
		if !strings.HasPrefix(got, `tool_used "I look at the parser." "It reads twice." `) || strings.Count(got, `"`) != 4 {
			t.Errorf("%s: recorded %s", event, got)
		}
		a.add("s", "()", "And now the lexer.", "()", "Finished.")
		w.pipeline.remarks.forget() // as after a restart: all of it is read again
		w.post(t, toolUse("s", "toolu_2", "go vet", "ok"))
		w.post(t, hook("Stop", "s", map[string]any{"transcript_path": a.path, "last_assistant_message": "Finished."}))
		later := w.happened(t, "s")
		if want := `tool_used "Done." "And now the lexer." agent_stopped`; !strings.HasSuffix(later, want) || strings.Count(later, `"`) != 8 {
			t.Errorf("%s: recorded then %s, want %s at the end", event, later, want)
		}
	}
}

// TestRemarksFromTheSpool: a stop that waited in the spool is preceded by what was said before it, not by what was said since.
func TestRemarksFromTheSpool(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t, func(c *Config) { c.DrainEvery = time.Hour }), newTranscript(t)
	<-w.pipeline.Drained()
	spooled := func(body []byte) {
		t.Helper()
		if _, err := w.pipeline.cfg.Spool.Put(spool.Entry{Agent: "claude-code", Delivery: newID().String(), OccurredAt: a.at.Add(time.Millisecond), Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	a.add("s", "First.", "()")
	spooled(hook("Stop", "s", map[string]any{"transcript_path": a.path, "last_assistant_message": "Done."}))
	a.add("s", "Second.", "()")
	spooled(hook("Stop", "s", map[string]any{"transcript_path": a.path, "last_assistant_message": "Done again."}))
	if err := w.pipeline.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(`"First." agent_stopped "Second." agent_stopped`, w.happened(t, "s")); d != "" {
		t.Errorf("recorded (-want +got):\n%s", d)
	}
}

// TestRemarksSurviveARefusal: what was refused for now comes with the next try.
func TestRemarksSurviveARefusal(t *testing.T) {
	t.Parallel()
	var busy atomic.Bool
	w, a := newWorld(t, func(c *Config) {
		sink := c.Sink
		c.Sink = fakeSink(func(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
			if busy.Load() {
				return actors.Receipt{}, actors.ErrBusy
			}
			return sink.Do(ctx, id, cmds...)
		})
	}), newTranscript(t)
	a.add("s", "First.", "()")
	busy.Store(true)
	stop := hook("Stop", "s", map[string]any{"transcript_path": a.path, "last_assistant_message": "Done."})
	if _, err := w.client.Hook(t.Context(), "claude-code", stop, newID(), time.Now()); err == nil {
		t.Fatal("a stop was taken whose remarks were not")
	}
	busy.Store(false)
	w.post(t, stop)
	if d := cmp.Diff(`"First." agent_stopped`, w.happened(t, "s")); d != "" {
		t.Errorf("recorded (-want +got):\n%s", d)
	}
}

// TestRemarksOfBadTranscripts: whatever the file is, the stop is taken, and nobody waits.
func TestRemarksOfBadTranscripts(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(a *agentTranscript) string{ // what is on record then
		"missing": func(a *agentTranscript) string { a.must(os.Remove(a.path)); return "agent_stopped" },
		"a folder": func(a *agentTranscript) string {
			a.must(os.Remove(a.path))
			a.must(os.Mkdir(a.path, 0o700))
			return "agent_stopped"
		},
		"a link": func(a *agentTranscript) string {
			a.must(os.Rename(a.path, a.path+"l"))
			a.must(os.Symlink(a.path+"l", a.path))
			return "agent_stopped"
		},
		"not its lines": func(a *agentTranscript) string {
			a.must(os.WriteFile(a.path, []byte("{}\n[1\nx\x00\n"), 0o600))
			return "agent_stopped"
		},
		"cut": func(a *agentTranscript) string {
			data, err := os.ReadFile(a.path)
			a.must(err)
			a.must(os.WriteFile(a.path, data[:len(data)-20], 0o600))
			return "agent_stopped"
		},
		"longer than is read": func(a *agentTranscript) string {
			a.add("s", strings.Repeat("long ", maxUnread/5), "()", "At the end.", "()")
			return `"At the end." agent_stopped`
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w, a := newWorld(t, nil), newTranscript(t)
			a.add("s", "First.", "()")
			want := spoil(a)
			w.post(t, hook("Stop", "s", map[string]any{"transcript_path": a.path, "last_assistant_message": "Done."}))
			if d := cmp.Diff(want, w.happened(t, "s")); d != "" {
				t.Errorf("recorded (-want +got):\n%s", d)
			}
		})
	}
}

func (a *agentTranscript) must(err error) {
	a.tb.Helper()
	if err != nil {
		a.tb.Fatal(err)
	}
}

// TestARewrittenTranscriptIsReadAnew: one that is shorter than it was, and another file in its place.
func TestARewrittenTranscriptIsReadAnew(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t, nil), newTranscript(t)
	stop := func() {
		w.post(t, hook("Stop", "s", map[string]any{"transcript_path": a.path, "last_assistant_message": "Done.", "prompt_id": fmt.Sprint(a.at)}))
	}
	a.add("s", "A first and long remark.", "()")
	stop()
	a.must(os.Truncate(a.path, 0))
	a.add("s", "Short.", "()")
	stop()
	a.must(os.Remove(a.path))
	a.add("s", "A third remark that is longer than the others.", "()")
	stop()
	want := `"A first and long remark." agent_stopped "Short." agent_stopped "A third remark that is longer than the others." agent_stopped`
	if d := cmp.Diff(want, w.happened(t, "s")); d != "" {
		t.Errorf("recorded (-want +got):\n%s", d)
	}
}

// TestQuietSessionsAreRead: an agent that was killed calls no further hook.
func TestQuietSessionsAreRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(2 * time.Hour) // transcripts begin with the year 2000
		a := newTranscript(t)
		a.add("s", "First.", "()")
		var said atomic.Int64
		cfg := config(t)
		cfg.Spool = nil
		cfg.Sink = fakeSink(func(_ context.Context, _ events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
			for _, c := range cmds {
				if _, ok := c.(session.Capture).Event.(events.AgentSaid); ok {
					said.Add(1)
				}
			}
			return actors.Receipt{}, nil
		})
		p, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer draining(p)()
		var use map[string]any
		if err := json.Unmarshal(toolUse("s", "toolu_1", "go test", "ok"), &use); err != nil {
			t.Fatal(err)
		}
		use["transcript_path"] = a.path
		body, _ := json.Marshal(use)
		if _, err := p.Post(t.Context(), Posted{Agent: "claude-code", Came: time.Now(), Body: body}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(quietAfter - time.Second)
		if n := said.Load(); n != 0 {
			t.Errorf("%d remarks on record while the session works", n)
		}
		time.Sleep(time.Minute)
		if n := said.Load(); n != 1 {
			t.Errorf("%d remarks on record of a quiet session, want 1", n)
		}
	})
}
