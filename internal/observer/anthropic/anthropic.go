package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// Name is the provider's name in streams and settings.
const Name = "anthropic"

// tool is the name of the tool that takes the answer in the structured form of models that keep to no schema.
const tool = "record"

// Config of an Asker.
type Config struct {
	Model    string // as the API names it; needed
	Endpoint model.Endpoint
}

// Asker asks one model. It is safe for concurrent use.
type Asker struct {
	model    string
	client   *http.Client
	messages sdk.MessageService
	abilities
}

var _ model.Asker = (*Asker)(nil)

// New checks c and returns an asker that has connected to nothing yet.
func New(c Config) (*Asker, error) {
	if c.Model == "" {
		return nil, errors.New("anthropic: no model is named")
	}
	if err := c.Endpoint.Check(); err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	a := &Asker{model: c.Model, client: model.NewClient(c.Endpoint, "X-Api-Key")}
	opts := []option.RequestOption{option.WithEnvironmentProduction(), option.WithHTTPClient(a.client), option.WithMaxRetries(0)}
	if c.Endpoint.URL != "" {
		opts = append(opts, option.WithBaseURL(c.Endpoint.URL))
	}
	a.messages = sdk.NewMessageService(opts...) // not a client, which would read the environment
	a.models = sdk.NewModelService(opts...)
	return a, nil
}

// Model names what is asked.
func (a *Asker) Model() string { return a.model }

// CloseIdleConnections closes what is kept open for the next question.
func (a *Asker) CloseIdleConnections() { a.client.CloseIdleConnections() }

// Ask puts q to the model and returns the whole answer. Before the first question the service is asked what the model can.
func (a *Asker) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	params, err := a.params(q, a.abilities.of(ctx, a.model))
	if err != nil {
		return observer.Reply{}, err
	}
	watched, call := model.Watch(ctx, q)
	stream := a.messages.NewStreaming(watched, params)
	var got answer
	for stream.Next() {
		got.take(stream.Current())
	}
	err = stream.Err()
	_ = stream.Close()
	if got.stop == "" {
		err = failed(ctx, call, err)
	} else {
		err = got.failure()
	}
	return call.Outcome(got.told(), err)
}

func (a *Asker) params(q model.Question, can ability) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{
		Model: sdk.Model(a.model), MaxTokens: int64(q.MaxTokens),
		System:   []sdk.TextBlockParam{{Text: q.System, CacheControl: sdk.NewCacheControlEphemeralParam()}},
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(q.User))},
	}
	if q.System == "" { // the API takes no empty text
		p.System = nil
	}
	if q.LeastThinking && can.thinkLess {
		p.OutputConfig.Effort = sdk.OutputConfigEffortLow
	}
	if q.LeastThinking && can.thinkNot {
		off := sdk.NewThinkingConfigDisabledParam()
		p.Thinking = sdk.ThinkingConfigParamUnion{OfDisabled: &off}
	}
	switch {
	case q.Form != events.FormStructured:
	case can.keepToSchema:
		format, err := json.Marshal(map[string]any{"type": "json_schema", "schema": q.Schema})
		if err != nil {
			return p, fmt.Errorf("anthropic: the schema of the answer: %w", err)
		}
		p.OutputConfig.Format = param.Override[sdk.JSONOutputFormatParam](json.RawMessage(format)) // a map would lose the order
	default:
		return p, useTool(&p, q.Schema)
	}
	return p, nil
}

// useTool makes the model give its answer as the input of a tool that it has to call, as older ones can.
func useTool(p *sdk.MessageNewParams, of json.RawMessage) error {
	var schema struct {
		Properties           json.RawMessage `json:"properties"`
		Required             []string        `json:"required"`
		AdditionalProperties bool            `json:"additionalProperties"`
	}
	if err := json.Unmarshal(of, &schema); err != nil {
		return fmt.Errorf("anthropic: the schema of the answer: %w", err)
	}
	p.Tools = []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
		Name: tool, Description: param.NewOpt("Takes what is to be recorded. It is called once."),
		InputSchema: sdk.ToolInputSchemaParam{
			Properties: schema.Properties, Required: schema.Required,
			ExtraFields: map[string]any{"additionalProperties": schema.AdditionalProperties},
		},
	}}}
	p.ToolChoice = sdk.ToolChoiceUnionParam{
		OfTool: &sdk.ToolChoiceToolParam{Name: tool, DisableParallelToolUse: param.NewOpt(true)},
	}
	return nil
}

// answer is what has come of a stream.
type answer struct {
	text, input strings.Builder // of text blocks, and of the tool's input
	usage       events.Usage
	model       string
	stop        sdk.StopReason // empty until the answer is whole
}

// take adds an event. Usage is told at the beginning, and again, as a sum, at the end.
func (a *answer) take(e sdk.MessageStreamEventUnion) {
	switch e := e.AsAny().(type) {
	case sdk.MessageStartEvent:
		u := e.Message.Usage
		a.model = string(e.Message.Model)
		a.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
	case sdk.ContentBlockDeltaEvent:
		switch d := e.Delta.AsAny().(type) {
		case sdk.TextDelta:
			a.text.WriteString(d.Text)
		case sdk.InputJSONDelta:
			a.input.WriteString(d.PartialJSON)
		}
	case sdk.MessageDeltaEvent:
		a.stop = e.Delta.StopReason
		u := e.Usage
		a.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
	}
}

// count takes sums; those that are not told are 0. What was read from the cache, and written to it, is input too.
func (a *answer) count(input, read, written, output int64) {
	a.usage.Input = max(a.usage.Input, input+read+written)
	a.usage.Cached = max(a.usage.Cached, read)
	a.usage.Output = max(a.usage.Output, output)
}

// said is the answer: the tool's input where there is any.
func (a *answer) said() string {
	if a.input.Len() > 0 {
		return a.input.String()
	}
	return a.text.String()
}

// told is the answer as far as it came.
func (a *answer) told() observer.Reply {
	return observer.Reply{Text: events.NewOutput(a.said()), StopReason: model.Word(string(a.stop)), Bill: events.Bill{Usage: a.usage, Model: a.model}}
}

// failure is why a whole answer is none, by its stop reason; nil if it is one.
func (a *answer) failure() error {
	var class events.FailureClass
	switch a.stop {
	case sdk.StopReasonMaxTokens:
		class = events.FailTruncated
	case sdk.StopReasonRefusal:
		class = events.FailRefused
	case sdk.StopReasonModelContextWindowExceeded:
		class = events.FailOverflow
	default:
		return nil
	}
	return &observer.Failure{Class: class, Message: "stopped: " + model.Word(string(a.stop))}
}

// failed is what a stream comes to that ended with err, without a stop reason.
func failed(ctx context.Context, call *model.Call, err error) error {
	refusal, ok := errors.AsType[*sdk.Error](err)
	if ok && refusal.StatusCode < 300 && ctx.Err() == nil { // an error event, after the stream had begun well
		return call.Refused([]byte(refusal.RawJSON()))
	}
	return call.Failed(ctx, err)
}
