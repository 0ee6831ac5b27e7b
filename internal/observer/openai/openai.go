package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// Name is the provider's name in streams and settings.
const Name = "openai"

// baseURL is where OpenAI's own service is.
const baseURL = "https://api.openai.com/v1"

// The two names of the bound of tokens: OpenAI's own, and the older one that the others know.
const (
	maxCompletionTokens = "max_completion_tokens"
	maxTokens           = "max_tokens"
)

// reasoningEffort is the parameter that tells a model how much to think.
const reasoningEffort = "reasoning_effort"

// Config of an Asker.
type Config struct {
	Model    string         // as the endpoint names it; needed
	Endpoint model.Endpoint // its URL with the version, as in http://127.0.0.1:11434/v1
}

// Asker asks one model. It is safe for concurrent use.
type Asker struct {
	model   string
	client  *http.Client
	url     string      // where questions go
	older   atomic.Bool // the endpoint knows max_tokens
	efforts atomic.Bool // the endpoint and the model know reasoning_effort
}

var _ model.Asker = (*Asker)(nil)

// New checks c and returns an asker that has connected to nothing yet.
func New(c Config) (*Asker, error) {
	if c.Model == "" {
		return nil, errors.New("openai: no model is named")
	}
	if err := c.Endpoint.Check(); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	base, err := url.Parse(cmp.Or(c.Endpoint.URL, baseURL))
	if err != nil {
		return nil, errors.New("openai: the base URL is not one")
	}
	a := &Asker{model: c.Model, client: model.NewClient(c.Endpoint, "Authorization"), url: base.JoinPath("chat", "completions").String()}
	own := base.Host == "api.openai.com"
	a.older.Store(!own)
	a.efforts.Store(own || base.Host == "openrouter.ai")
	return a, nil
}

// Model names what is asked.
func (a *Asker) Model() string { return a.model }

// CloseIdleConnections closes what is kept open for the next question.
func (a *Asker) CloseIdleConnections() { a.client.CloseIdleConnections() }

// Ask puts q to the model and returns the whole answer. Where the endpoint refuses the name of the bound of tokens, the
// other one is taken from then on; where it refuses to be told how much to think, it is not told so any more.
func (a *Asker) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	older, efforts := a.older.Load(), a.efforts.Load()
	reply, refused, err := a.ask(ctx, q, a.request(q, older, efforts))
	name, effort := slices.Contains(refused, tokensName(older)), efforts && slices.Contains(refused, reasoningEffort)
	if name {
		a.older.CompareAndSwap(older, !older)
	}
	if effort {
		a.efforts.Store(false)
	}
	if failure, ok := errors.AsType[*observer.Failure](err); ok && (name || effort) {
		return observer.Reply{Bill: failure.Bill}, model.ErrAgain
	}
	return reply, err
}

func tokensName(older bool) string {
	if older {
		return maxTokens
	}
	return maxCompletionTokens
}

// ask asks once, and says which parameters the endpoint refused.
func (a *Asker) ask(ctx context.Context, q model.Question, asked request) (observer.Reply, []string, error) {
	watched, call := model.Watch(ctx, q)
	var got completion
	raw, err := model.Post(watched, a.client, a.url, asked, &got)
	if err != nil {
		reply, err := call.Outcome(observer.Reply{}, call.Failed(ctx, err))
		return reply, call.Objects(), err
	}
	if len(got.Choices) == 0 { // an error under a good status, or nothing that we know
		err = call.Refused(raw)
	} else {
		err = got.Choices[0].failure(call)
	}
	reply, err := call.Outcome(got.told(), err)
	return reply, nil, err
}

func (a *Asker) request(q model.Question, older, efforts bool) request {
	r := request{Model: a.model}
	if q.LeastThinking && efforts {
		r.Effort = "low" // the least that all models know that reason
	}
	if q.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: q.System})
	}
	r.Messages = append(r.Messages, message{Role: "user", Content: q.User})
	if older {
		r.MaxTokens = q.MaxTokens
	} else {
		r.MaxCompletionTokens = q.MaxTokens
	}
	if q.Form == events.FormStructured {
		r.Format = &format{Type: "json_schema", Schema: schema{Name: "record", Strict: true, Schema: q.Schema}}
	}
	return r
}

// told is the answer of a completion and what it was paid with.
func (c *completion) told() observer.Reply {
	u := c.Usage
	reply := observer.Reply{
		Bill: events.Bill{Model: c.Model, Usage: events.Usage{Input: int64(u.Prompt), Cached: int64(u.Details.Cached), Output: int64(u.Completion)}},
	}
	reply.Cost, reply.CostStated = u.cost()
	if len(c.Choices) > 0 {
		reply.Text, reply.StopReason = events.NewOutput(c.Choices[0].Message.Content), model.Word(c.Choices[0].Reason)
	}
	return reply
}

// failure is why a choice is no answer, by its finish reason; nil if it is one.
func (c choice) failure(call *model.Call) error {
	why := "finished: " + model.Word(c.Reason)
	switch {
	case c.Reason == "length":
		return &observer.Failure{Class: events.FailTruncated, Message: why}
	case c.Reason == "content_filter", c.Message.Refusal != "":
		return &observer.Failure{Class: events.FailRefused, Message: why}
	case c.Reason == "error": // OpenRouter: the service behind it failed
		return call.Refused(c.raw)
	}
	return nil
}
