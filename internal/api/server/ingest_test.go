package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/internal/api"
)

// transcript is n rounds of a prompt, a tool call and an answer, as Claude Code writes them down.
func transcript(name string, n int) []byte {
	var b bytes.Buffer
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	line := func(kind string, more map[string]any) {
		at = at.Add(time.Second)
		m := map[string]any{
			"type": kind, "sessionId": name, "cwd": "/src/shop", "uuid": newID().String(), "gitBranch": "old",
			"timestamp": at.Format(time.RFC3339Nano), "userType": "external", "isSidechain": false,
		}
		for k, v := range more {
			m[k] = v
		}
		_ = json.NewEncoder(&b).Encode(m) // maps of strings always encode
	}
	for i := range n {
		id := fmt.Sprintf("toolu_%s_%d", name, i)
		line("user", map[string]any{"promptId": newID().String(), "message": map[string]any{"role": "user", "content": fmt.Sprint("do number ", i)}})
		line("assistant", map[string]any{"message": map[string]any{"role": "assistant", "stop_reason": "tool_use", "content": []any{
			map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": fmt.Sprint("make ", i)}},
		}}})
		line("user", map[string]any{"message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": id, "content": "ok"},
		}}})
		line("assistant", map[string]any{"message": map[string]any{"role": "assistant", "stop_reason": "end_turn", "content": []any{
			map[string]any{"type": "text", "text": fmt.Sprint("did number ", i)},
		}}})
	}
	return b.Bytes()
}

func TestIngestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	read := &countingReader{r: bytes.NewReader(make([]byte, 8<<20))}
	_, err := w.client.Ingest(t.Context(), "nobody", "x", read)
	if p := problem(t, err); p.Status != 404 || read.n.Load() > 0 {
		t.Errorf("got %+v after %d bytes, want 404 before any", p, read.n.Load())
	}
	got, err := w.client.Ingest(t.Context(), "claude-code", "x", strings.NewReader(""))
	if err != nil || got.Captured != 0 || got.Sessions == nil {
		t.Errorf("an empty one: got %+v, %v", got, err)
	}
}

type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// A failure in the middle is told although most of the transcript is still unsent.
func TestIngestFailureIsHeard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.System = failing(c.System, actors.ErrParked) })
	_, err := w.client.Ingest(t.Context(), "claude-code", "s.jsonl", bytes.NewReader(transcript("bad-1", 20_000)))
	if p := problem(t, err); p.Type != api.ProblemFaulted {
		t.Errorf("got %+v, want what became of the session", p)
	}
}
