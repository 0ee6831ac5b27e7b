package prompt

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/observer"
)

// session is what an agent's tools did, over and over: the payloads that a real client sent, and between them files of
// this repository being read, whole.
func session(t testing.TB) (list []events.ToolUsed) {
	t.Helper()
	payloads, err := filepath.Glob("../../agents/testdata/claude-code/PostToolUse*.json")
	if err != nil || len(payloads) < 10 {
		t.Fatalf("%d payloads, %v", len(payloads), err)
	}
	sources, err := filepath.Glob("../*.go")
	if err != nil || len(sources) < 10 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	for i, path := range payloads {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, capture(t, raw)...)
		if i%2 == 0 {
			list = append(list, capture(t, reading(t, raw, sources[i%len(sources)]))...)
		}
	}
	return list
}

// capture is what the daemon makes of a payload.
func capture(t testing.TB, payload []byte) (list []events.ToolUsed) {
	t.Helper()
	report, err := agents.ClaudeCode{}.Decode(payload, agents.Meta{Delivery: events.ID{1}, OccurredAt: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Captures {
		if u, ok := c.Event.(events.ToolUsed); ok {
			list = append(list, u)
		}
	}
	return list
}

// reading is a payload made over into the reading of a file.
func reading(t testing.TB, payload []byte, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var p map[string]any
	if err := json.Unmarshal(payload, &p); err != nil {
		t.Fatal(err)
	}
	p["hook_event_name"], p["tool_name"], p["tool_input"] = "PostToolUse", "Read", map[string]any{"file_path": path}
	p["tool_response"] = map[string]any{"type": "text", "file": map[string]any{"filePath": path, "content": string(text), "numLines": 200}}
	out, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// meter asks a renderer as the daemon does, and counts.
type meter struct {
	r      *Renderer
	recent []string
	found  []events.ObservationParsed
	batch  []observer.Input
	bytes  int   // of the batch
	sent   []int // by turn
	of     []int // events by turn
}

func (m *meter) add(e events.ToolUsed) {
	limits, size := policy.ModelLimits(), len(e.Tool)+len(e.Input)+len(e.Output)
	if len(m.batch) > 0 && m.bytes+size > limits.MaxBytes {
		m.observe()
	}
	m.batch, m.bytes = append(m.batch, observer.Input{Event: e}), m.bytes+size
	if len(m.batch) == limits.MaxInputs || m.bytes > limits.MaxBytes {
		m.observe()
	}
}

func (m *meter) ask(p observer.Prompt) {
	p.Attempt, p.Project, p.Agent, p.Request = 1, "project", "claude-code", "Make the parser take longer lines, and test it."
	q := m.r.Question(p, events.FormXML)
	m.sent, m.of = append(m.sent, len(q.System)+len(q.User)), append(m.of, len(p.Inputs))
}

func (m *meter) observe() {
	if len(m.batch) == 0 {
		return
	}
	m.ask(observer.Prompt{Kind: events.TurnObservation, Recent: m.recent, Inputs: m.batch})
	title := fmt.Sprintf("Observation %06d about lines over the limit of the parser", len(m.sent))
	m.found = append(m.found, events.ObservationParsed{Type: "change", Title: title, Narrative: title + ". " + title + ". " + title + "."})
	m.recent, m.batch, m.bytes = append(m.recent, title), nil, 0
	m.recent = m.recent[max(0, len(m.recent)-10):]
}

func (m *meter) stop() {
	m.observe()
	m.ask(observer.Prompt{Kind: events.TurnSummary, Observed: m.found, Message: "All of it is done and tested.", Stop: events.StopDone})
	m.of[len(m.of)-1], m.found = 0, nil
}

func (m *meter) total() (bytes int) {
	for _, n := range m.sent {
		bytes += n
	}
	return bytes
}

// A thousand events in one session cost less than 4 kB each, and the thousandth no more than the tenth, both in a burst and
// with a stop every 20.
func TestCostAnEvent(t *testing.T) {
	t.Parallel()
	const all = 1000
	tools := session(t)
	for _, tc := range []struct {
		name              string
		stopEvery, atMost int // calls
	}{{"a burst", all, 60}, {"a stop every 20", 20, 130}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := meter{r: newRenderer(t, Config{})}
			raw := 0
			for i := range all {
				e := tools[i%20%len(tools)]
				raw += len(e.Input) + len(e.Output)
				m.add(e)
				if (i+1)%tc.stopEvery == 0 {
					m.stop()
				}
			}
			t.Logf("%d calls, %d bytes an event, %d captured", len(m.sent), m.total()/all, raw/all)
			if m.total() > 4000*all || len(m.sent) > tc.atMost {
				t.Errorf("%d bytes an event in %d calls, want at most 4000 in %d", m.total()/all, len(m.sent), tc.atMost)
			}
			tenth, last := m.sent[0], m.sent[len(m.sent)-2] // the last but the summary
			if m.of[0] != m.of[len(m.of)-2] || last > tenth+10*80 {
				t.Errorf("the turn of the tenth event sent %d bytes for %d, that of the thousandth %d for %d", tenth, m.of[0], last, m.of[len(m.of)-2])
			}
		})
	}
}

func BenchmarkQuestion(b *testing.B) {
	r := newRenderer(b, Config{})
	p := observer.Prompt{Kind: events.TurnObservation, Attempt: 1}
	size := 0
	for _, e := range session(b)[:20] {
		p.Inputs = append(p.Inputs, observer.Input{Event: e})
		size += len(e.Input) + len(e.Output)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		_ = r.Question(p, events.FormXML)
	}
}
