package server

import (
	"bytes"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/internal/api"
)

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
