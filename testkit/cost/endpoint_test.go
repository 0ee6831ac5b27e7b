package cost

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// endpoint is a service that speaks Anthropic Messages on loopback, counts what it is sent, and answers each question with
// what a model that does as it is told would: two observations, or a summary.
type endpoint struct {
	*httptest.Server
	mu    sync.Mutex     // guards the fields below
	asked model.Question // the one that is about to arrive
	sizes []int          // of the requests' bodies
}

func newEndpoint(tb testing.TB) *endpoint {
	e := &endpoint{}
	e.Server = httptest.NewServer(e)
	tb.Cleanup(e.Close)
	return e
}

// announced tells an endpoint what it is about to be asked, so that it need not guess it from the request.
type announced struct {
	model.Asker
	to *endpoint
}

func (a announced) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	a.to.mu.Lock()
	a.to.asked = q
	a.to.mu.Unlock()
	return a.Asker.Ask(ctx, q)
}

// ServeHTTP counts and answers.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet { // what a model can: it does not say
		w.WriteHeader(http.StatusNotFound)
		return
	}
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return // whoever asked is gone
	}
	e.mu.Lock()
	e.sizes = append(e.sizes, int(n))
	q, number := e.asked, len(e.sizes)
	e.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	text := answer(q.Kind, q.Form, number)
	for _, event := range stream(text) {
		b, err := json.Marshal(event)
		if err != nil {
			panic(err) // texts, numbers and maps of them always are JSON
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], b)
	}
}

// sent lists the sizes of what came so far.
func (e *endpoint) sent() []int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]int(nil), e.sizes...)
}

// stream is an answer as the service's events.
func stream(text string) []map[string]any {
	return []map[string]any{
		{"type": "message_start", "message": map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "counted", "content": []any{},
			"usage": map[string]any{"input_tokens": 100, "output_tokens": 1},
		}},
		{"type": "content_block_start", "index": 0, "content_block": map[string]any{
			"type": "text", "text": "",
		}},
		{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": text}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": "end_turn"}, "usage": map[string]any{"output_tokens": 300}},
		{"type": "message_stop"},
	}
}

// answer is what the model says: it is as long as the prompt asks for, and no two are the same.
func answer(kind events.TurnKind, form events.Form, number int) string {
	var said struct {
		Observations []observer.Observation `json:"observations"`
		Summary      *observer.Summary      `json:"summary"`
		Skip         bool                   `json:"skip"`
		SkipReason   string                 `json:"skip_reason"`
	}
	if kind == events.TurnSummary {
		said.Summary = summary(number)
	} else {
		said.Observations = []observer.Observation{observation(number, 1), observation(number, 2)}
	}
	if form == events.FormStructured {
		b, err := json.Marshal(said)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	var b []byte
	for _, o := range said.Observations {
		b = o.AppendXML(b)
	}
	if said.Summary != nil {
		b = said.Summary.AppendXML(b)
	}
	return string(b)
}

func observation(number, which int) observer.Observation {
	return observer.Observation{
		Type:     "change",
		Title:    fmt.Sprintf("Reader %04d.%d refuses lines over the limit by a typed error", number, which),
		Subtitle: "Before, the rest of such a line was taken for a line of its own, which nobody noticed.",
		Narrative: fmt.Sprintf("Reader %d keeps count of what it skips up to the next line end and returns ErrTooLong once for it. "+
			"The callers pass the error on with the number of the line. Both limits are constants beside each other, and the test feeds "+
			"lines of exactly the limit, one byte less and one byte more, in pieces of every size.", number),
		Facts: []string{
			"The limit is 64 MiB a line, in bytes, without the line end", "A line that is too long costs no more memory than the limit",
			fmt.Sprintf("TestLongLines covers case %d of the table", number),
		},
		Concepts: []string{"how-it-works", "gotcha"}, FilesRead: []string{"hooks/transcript.go"}, FilesModified: []string{"hooks/transcript.go", "hooks/transcript_test.go"},
	}
}

func summary(number int) *observer.Summary {
	return &observer.Summary{
		Request:      "Make the parser take longer lines, and test it.",
		Investigated: "How lines are read, who calls the reader, and what happens at the limit.",
		Learned:      "The rest of a line that was too long came back as a line of its own.",
		Completed:    fmt.Sprintf("Step %d: the reader skips to the next line end and says so once; all tests pass.", number),
		NextSteps:    "Write the same test for the other agents' transcripts.",
	}
}
