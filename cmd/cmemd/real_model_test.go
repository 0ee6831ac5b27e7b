package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// realModel is what the real client asks in these tests: a model on loopback that answers each kind of turn as it should,
// or keeps whoever asks waiting.
type realModel struct {
	*httptest.Server
	mu    sync.Mutex // guards the fields below
	hangs bool
	asked []realQuestion
}

// realQuestion is one request as the client sent it.
type realQuestion struct {
	kind  events.TurnKind
	bytes int // of the whole body
	own   int // of them, those that are not our two texts: what the client adds, and escapes
	tools int // offered to the model
}

func newRealModel(t *testing.T) *realModel {
	m := &realModel{}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() { m.CloseClientConnections(); m.Close() })
	return m
}

// hang has the model keep silent from now on, or not any more.
func (m *realModel) hang(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hangs = on
}

// questions lists what was asked so far.
func (m *realModel) questions() []realQuestion {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]realQuestion(nil), m.asked...)
}

// ServeHTTP answers what is asked of a model, and nothing else.
func (m *realModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	q, ok := readQuestion(body)
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.asked = append(m.asked, q)
	hangs := m.hangs
	m.mu.Unlock()
	if hangs {
		<-r.Context().Done()
		return
	}
	text := "<observation><type>bugfix</type><title>A cart keeps one lock of marmalade</title></observation>"
	if q.kind == events.TurnSummary {
		text = "<summary><request>mend the checkout</request><completed>one lock</completed></summary>"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, anthropicStream(text, false))
}

// readQuestion tells the kind of a turn by the form that is asked for, and what is ours of the request from what is not.
func readQuestion(body []byte) (q realQuestion, ok bool) {
	type block struct {
		Text string `json:"text"`
	}
	var b struct {
		System   []block `json:"system"`
		Messages []struct {
			Content []block `json:"content"`
		} `json:"messages"`
		Tools []any `json:"tools"`
	}
	if json.Unmarshal(body, &b) != nil {
		return q, false
	}
	q = realQuestion{bytes: len(body), own: len(body), tools: len(b.Tools)}
	for _, s := range b.System {
		switch {
		case strings.Contains(s.Text, "<observation>"):
			q.kind = events.TurnObservation
		case strings.Contains(s.Text, "<summary>"):
			q.kind = events.TurnSummary
		default:
			continue
		}
		q.own -= len(s.Text)
	}
	asked := 0
	for _, m := range b.Messages {
		for _, c := range m.Content {
			if strings.HasPrefix(c.Text, "The mark of this message is ") {
				q.own -= len(c.Text)
				asked++
			}
		}
	}
	return q, q.kind != "" && asked == 1
}
