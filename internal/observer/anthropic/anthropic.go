package anthropic

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// Name is the provider's name in streams and settings.
const Name = "anthropic"

// Asker asks one model. It is safe for concurrent use.
type Asker struct {
	*model.Client
	abilities
}

var _ model.Asker = (*Asker)(nil)

// New returns an asker of the model that the API calls name, which has connected to nothing yet.
func New(name string, e model.Endpoint) (*Asker, error) {
	client, err := model.NewClient(model.Service{
		Name: Name, URL: "https://api.anthropic.com", KeyHeader: "X-Api-Key", Header: http.Header{"Anthropic-Version": {"2023-06-01"}},
	}, name, e)
	return &Asker{Client: client}, err
}

// Ask puts q to the model and returns the whole answer. Before the first question the service is asked what the model can.
func (a *Asker) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	return a.Client.Ask(ctx, q, model.Exchange{Path: "v1/messages", Asked: a.request(q, a.abilities.of(ctx, a.Client)), Read: read})
}

// tool is the name of the tool that takes the answer in the structured form of models that keep to no schema.
const tool = "record"

func (a *Asker) request(q model.Question, can ability) request {
	r := request{
		Model: a.Model(), MaxTokens: q.MaxTokens, Stream: true,
		Messages: []message{{Role: "user", Content: []block{{Type: "text", Text: q.User}}}},
	}
	if q.System != "" { // the API takes no empty text
		r.System = []block{{Type: "text", Text: q.System, Cache: &kind{Type: "ephemeral"}}}
	}
	if q.LeastThinking && can.thinkLess {
		r.Output.Effort = "low"
	}
	if q.LeastThinking && can.thinkNot {
		r.Thinking = &kind{Type: "disabled"}
	}
	switch {
	case q.Form != events.FormStructured:
	case can.keepToSchema:
		r.Output.Format = &format{Type: "json_schema", Schema: q.Schema}
	default:
		r.useTool(q.Schema)
	}
	return r
}

// useTool makes the model give its answer as the input of a tool that it has to call, as older ones can.
func (r *request) useTool(schema json.RawMessage) {
	r.Tools = []toolForm{{Name: tool, Description: "Takes what is to be recorded. It is called once.", Schema: schema}}
	r.Choice = &toolChoice{Type: "tool", Name: tool, Single: true}
}

// read is what came of a stream.
func read(body []byte) model.Answer {
	var s stream
	for data := range eventsOf(body) {
		var e Event
		if json.Unmarshal(data, &e) == nil {
			s.take(e, data)
		}
	}
	a := model.Answer{Reply: s.reply(), Whole: s.stopReason != "", Class: ClassOfStop(s.stopReason)}
	if !a.Whole {
		a.Error = s.problem
	}
	a.Reason = "stopped: " + a.StopReason
	return a
}

// ClassOfStop is why a whole answer is none, by its stop reason; empty if it is one.
func ClassOfStop(reason string) events.FailureClass {
	switch reason {
	case "max_tokens":
		return events.FailTruncated
	case "refusal":
		return events.FailRefused
	case "model_context_window_exceeded":
		return events.FailOverflow
	}
	return ""
}
