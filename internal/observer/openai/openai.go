package openai

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// Name is the provider's name in streams and settings.
const Name = "openai"

// The two names of the bound of tokens: OpenAI's own, and the older one that the others know.
const (
	maxCompletionTokens = "max_completion_tokens"
	maxTokens           = "max_tokens"
)

// reasoningEffort is the parameter that tells a model how much to think.
const reasoningEffort = "reasoning_effort"

// Asker asks one model. It is safe for concurrent use.
type Asker struct {
	*model.Client
	legacyMaxTokens atomic.Bool // the endpoint knows max_tokens
	takesEffort     atomic.Bool // the endpoint and the model know reasoning_effort
}

var _ model.Asker = (*Asker)(nil)

// New returns an asker of the model that the endpoint calls name, which has connected to nothing yet. The endpoint's URL ends
// in the version, as in http://127.0.0.1:11434/v1.
func New(name string, e model.Endpoint) (*Asker, error) {
	client, err := model.NewClient(model.Service{Name: Name, URL: "https://api.openai.com/v1", KeyHeader: "Authorization"}, name, e)
	if err != nil {
		return nil, err
	}
	a := &Asker{Client: client}
	own := client.Host() == "api.openai.com"
	a.legacyMaxTokens.Store(!own)
	a.takesEffort.Store(own || client.Host() == "openrouter.ai")
	return a, nil
}

// Ask puts q to the model and returns the whole answer. Where the endpoint refuses the name of the bound of tokens, the
// other one is taken from then on; where it refuses to be told how much to think, it is not told so any more.
func (a *Asker) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	older, efforts := a.legacyMaxTokens.Load(), a.takesEffort.Load()
	again := func(refused []string) bool {
		name, effort := slices.Contains(refused, tokensName(older)), efforts && slices.Contains(refused, reasoningEffort)
		if name {
			a.legacyMaxTokens.CompareAndSwap(older, !older)
		}
		if effort {
			a.takesEffort.Store(false)
		}
		return name || effort
	}
	return a.Client.Ask(ctx, q, model.Exchange{Path: "chat/completions", Asked: a.request(q, older, efforts), Read: read, Again: again})
}

func tokensName(older bool) string {
	if older {
		return maxTokens
	}
	return maxCompletionTokens
}

func (a *Asker) request(q model.Question, legacyMaxTokens, takesEffort bool) request {
	r := request{Model: a.Model()}
	if q.LeastThinking && takesEffort {
		r.Effort = "low" // the least that all models know that reason
	}
	if q.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: q.System})
	}
	r.Messages = append(r.Messages, message{Role: "user", Content: q.User})
	if legacyMaxTokens {
		r.MaxTokens = q.MaxTokens
	} else {
		r.MaxCompletionTokens = q.MaxTokens
	}
	if q.Form == events.FormStructured {
		r.Format = &format{Type: "json_schema", Schema: schema{Name: "record", Strict: true, Schema: q.Schema}}
	}
	return r
}

// read is what a completion says and what it was paid with.
func read(body []byte) model.Answer {
	var c completion
	if json.Unmarshal(body, &c) != nil {
		return model.Answer{}
	}
	u := c.Usage
	a := model.Answer{Reply: observer.Reply{
		Bill: events.Bill{Model: c.Model, Usage: events.Usage{Input: int64(u.Prompt), Cached: int64(u.Details.Cached), Output: int64(u.Completion)}},
	}}
	a.Cost, a.CostStated = u.cost()
	if len(c.Choices) == 0 { // an error under a good status, or nothing that we know
		a.Error = body
		return a
	}
	first := c.Choices[0]
	a.Text, a.StopReason = events.NewOutput(first.Message.Content), model.Word(first.Reason)
	a.Whole, a.Reason = true, "finished: "+a.StopReason
	switch {
	case first.Reason == "length":
		a.Class = events.FailTruncated
	case first.Reason == "content_filter", first.Message.Refusal != "":
		a.Class = events.FailRefused
	case first.Reason == "error": // OpenRouter: the service behind it failed
		a.Whole, a.Error = false, first.raw
	}
	return a
}
