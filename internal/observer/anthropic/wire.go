package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// What goes over the wire of the Messages API, as far as it is used here.
type (
	request struct {
		Model     string      `json:"model"`
		MaxTokens int         `json:"max_tokens"`
		System    []block     `json:"system,omitempty"`
		Messages  []message   `json:"messages"`
		Output    output      `json:"output_config,omitzero"`
		Thinking  *kind       `json:"thinking,omitempty"`
		Tools     []toolForm  `json:"tools,omitempty"`
		Choice    *toolChoice `json:"tool_choice,omitempty"`
		Stream    bool        `json:"stream"`
	}
	message struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	}
	block struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Cache *kind  `json:"cache_control,omitempty"`
	}
	kind struct {
		Type string `json:"type"`
	}
	output struct {
		Effort string  `json:"effort,omitempty"`
		Format *format `json:"format,omitempty"`
	}
	format struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"schema"`
	}
	toolForm struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	toolChoice struct {
		Type   string `json:"type"`
		Name   string `json:"name"`
		Single bool   `json:"disable_parallel_tool_use"`
	}

	// Event is one event of a stream. Claude Code hands them on as they are.
	Event struct {
		Type    string `json:"type"`
		Message struct {
			ID    string `json:"id"`
			Model string `json:"model"`
			Usage Tokens `json:"usage"`
		} `json:"message"`
		Delta struct {
			Text        string `json:"text"`
			PartialJSON string `json:"partial_json"`
			StopReason  string `json:"stop_reason"`
		} `json:"delta"`
		Usage Tokens `json:"usage"`
	}

	// Tokens are what a message was paid with, as the service counts them.
	Tokens struct {
		Input   model.Count `json:"input_tokens"`
		Created model.Count `json:"cache_creation_input_tokens"`
		Read    model.Count `json:"cache_read_input_tokens"`
		Output  model.Count `json:"output_tokens"`
	}
)

// Usage is t as it is recorded: what was read from the cache, and written to it, is input too.
func (t Tokens) Usage() events.Usage {
	return events.Usage{Input: int64(t.Input + t.Created + t.Read), Cached: int64(t.Read), Output: int64(t.Output)}
}

// eventsOf yields the data of each server-sent event in body that came whole.
func eventsOf(body []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var data []byte
		for line := range bytes.Lines(body) {
			end := line[len(line)-1] == '\n'
			line = bytes.TrimRight(line, "\r\n")
			if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(append(data, value...), '\n')
			}
			if len(line) > 0 || !end {
				continue
			}
			if len(data) > 0 && !yield(data) {
				return
			}
			data = nil
		}
	}
}

// stream is what has come of an answer.
type stream struct {
	text, input strings.Builder // of text blocks, and of the tool's input
	usage       events.Usage
	model       string
	stopReason  string // empty until the answer is whole
	problem     []byte // an error event, as JSON
}

// take adds an event. Usage is told at the beginning, and again, as a sum, at the end.
func (s *stream) take(e Event, data []byte) {
	switch e.Type {
	case "message_start":
		s.model, s.usage = e.Message.Model, model.Most(s.usage, e.Message.Usage.Usage())
	case "content_block_delta":
		s.text.WriteString(e.Delta.Text)
		s.input.WriteString(e.Delta.PartialJSON)
	case "message_delta":
		s.stopReason, s.usage = cmp.Or(e.Delta.StopReason, s.stopReason), model.Most(s.usage, e.Usage.Usage())
	case "error":
		s.problem = data
	}
}

// reply is the answer as far as it came: the tool's input where there is any.
func (s *stream) reply() observer.Reply {
	return observer.Reply{
		Text: events.NewOutput(cmp.Or(s.input.String(), s.text.String())), StopReason: model.Word(s.stopReason),
		Bill: events.Bill{Usage: s.usage, Model: s.model},
	}
}
