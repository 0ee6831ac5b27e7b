package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/observer/model"
)

// Name is the provider's name in streams and settings.
const Name = "openai"

// The two names of the bound of tokens: OpenAI's own, and the older one that the others know.
const (
	maxCompletionTokens = "max_completion_tokens"
	maxTokens           = "max_tokens"
)

// Config of an Asker.
type Config struct {
	Model    string         // as the endpoint names it; needed
	Endpoint model.Endpoint // its URL with the version, as in http://127.0.0.1:11434/v1
}

// Asker asks one model. It is safe for concurrent use.
type Asker struct {
	model       string
	client      *http.Client
	completions sdk.ChatCompletionService
	older       atomic.Bool // the endpoint knows max_tokens
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
	a := &Asker{model: c.Model, client: model.NewClient(c.Endpoint, "Authorization")}
	opts := []option.RequestOption{option.WithEnvironmentProduction(), option.WithHTTPClient(a.client), option.WithMaxRetries(0)}
	if c.Endpoint.URL != "" {
		opts = append(opts, option.WithBaseURL(c.Endpoint.URL))
		a.older.Store(!strings.HasPrefix(c.Endpoint.URL, "https://api.openai.com/"))
	}
	a.completions = sdk.NewChatCompletionService(opts...) // not a client, which would read the environment
	return a, nil
}

// Model names what is asked.
func (a *Asker) Model() string { return a.model }

// CloseIdleConnections closes what is kept open for the next question.
func (a *Asker) CloseIdleConnections() { a.client.CloseIdleConnections() }

// Ask puts q to the model and returns the whole answer. An endpoint that refuses the name of the bound of tokens is asked
// again with the other one, at once and from then on.
func (a *Asker) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	older := a.older.Load()
	reply, refused, err := a.ask(ctx, q, older)
	if slices.Contains(refused, tokensName(older)) {
		a.older.Store(!older)
		reply, _, err = a.ask(ctx, q, !older)
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
func (a *Asker) ask(ctx context.Context, q model.Question, older bool) (observer.Reply, []string, error) {
	watched, call := model.Watch(ctx, q)
	completion, err := a.completions.New(watched, a.params(q, older))
	switch {
	case err != nil:
		return observer.Reply{}, call.Objects(), call.Failed(ctx, err)
	case len(completion.Choices) == 0: // an error under a good status, or nothing that we know
		return observer.Reply{}, nil, call.Refused([]byte(completion.RawJSON()))
	}
	reply, err := answer(call, completion)
	return reply, nil, err
}

func (a *Asker) params(q model.Question, older bool) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{Model: a.model}
	if q.System != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(q.System))
	}
	p.Messages = append(p.Messages, sdk.UserMessage(q.User))
	if older {
		p.MaxTokens = param.NewOpt(int64(q.MaxTokens))
	} else {
		p.MaxCompletionTokens = param.NewOpt(int64(q.MaxTokens))
	}
	if q.Form == events.FormStructured {
		p.ResponseFormat = sdk.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: "record", Strict: param.NewOpt(true), Schema: q.Schema,
			}},
		}
	}
	return p
}

// answer is what a completion comes to, by its finish reason.
func answer(call *model.Call, c *sdk.ChatCompletion) (observer.Reply, error) {
	choice := c.Choices[0]
	text := choice.Message.Content
	usage := events.Usage{
		Input: c.Usage.PromptTokens, Cached: c.Usage.PromptTokensDetails.CachedTokens, Output: c.Usage.CompletionTokens,
	}
	failure := func(class events.FailureClass) error {
		return &observer.Failure{Class: class, Message: "finished: " + model.Word(choice.FinishReason), Output: text, Usage: usage}
	}
	switch {
	case choice.FinishReason == "length":
		return observer.Reply{}, failure(events.FailTruncated)
	case choice.FinishReason == "content_filter", choice.Message.Refusal != "":
		return observer.Reply{}, failure(events.FailRefused)
	case choice.FinishReason == "error": // OpenRouter: the service behind it failed
		return observer.Reply{}, call.Refused([]byte(choice.RawJSON()))
	}
	return observer.Reply{Text: text, StopReason: model.Word(choice.FinishReason), Model: c.Model, Usage: usage, Cost: cost(c)}, nil
}

// cost is what OpenRouter says an answer cost, in US dollars; the others do not say.
func cost(c *sdk.ChatCompletion) float64 {
	dollars, err := strconv.ParseFloat(c.Usage.JSON.ExtraFields["cost"].Raw(), 64)
	if err != nil || dollars < 0 || math.IsNaN(dollars) || math.IsInf(dollars, 0) {
		return 0
	}
	return dollars
}
