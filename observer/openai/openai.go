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

// reasoningEffort is the parameter that tells a model how much to think.
const reasoningEffort = "reasoning_effort"

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
	efforts     atomic.Bool // the endpoint and the model know reasoning_effort
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
	own := c.Endpoint.URL == "" || strings.HasPrefix(c.Endpoint.URL, "https://api.openai.com/")
	a.older.Store(!own)
	a.efforts.Store(own || strings.HasPrefix(c.Endpoint.URL, "https://openrouter.ai/"))
	if c.Endpoint.URL != "" {
		opts = append(opts, option.WithBaseURL(c.Endpoint.URL))
	}
	a.completions = sdk.NewChatCompletionService(opts...) // not a client, which would read the environment
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
	reply, refused, err := a.ask(ctx, q, a.params(q, older, efforts))
	name, effort := slices.Contains(refused, tokensName(older)), efforts && slices.Contains(refused, reasoningEffort)
	if name {
		a.older.CompareAndSwap(older, !older)
	}
	if effort {
		a.efforts.Store(false)
	}
	if failure, ok := errors.AsType[*observer.Failure](err); ok && (name || effort) {
		return observer.Reply{Usage: failure.Usage, Cost: failure.Cost, Calls: failure.Calls, Model: failure.Model}, model.ErrAgain
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
func (a *Asker) ask(ctx context.Context, q model.Question, p sdk.ChatCompletionNewParams) (observer.Reply, []string, error) {
	watched, call := model.Watch(ctx, q)
	completion, err := a.completions.New(watched, p)
	var reply observer.Reply
	switch {
	case err != nil:
		reply, err = call.Outcome(reply, call.Failed(ctx, err))
		return reply, call.Objects(), err
	case len(completion.Choices) == 0: // an error under a good status, or nothing that we know
		err = call.Refused([]byte(completion.RawJSON()))
	default:
		err = failure(call, completion.Choices[0])
	}
	reply, err = call.Outcome(told(completion), err)
	return reply, nil, err
}

func (a *Asker) params(q model.Question, older, efforts bool) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{Model: a.model}
	if q.LeastThinking && efforts {
		p.ReasoningEffort = shared.ReasoningEffortLow // the least that all models know that reason
	}
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

// told is the answer of a completion and what it was paid with.
func told(c *sdk.ChatCompletion) observer.Reply {
	usd, stated := cost(c)
	reply := observer.Reply{
		Model: c.Model, Cost: usd, Told: stated,
		Usage: events.Usage{
			Input: c.Usage.PromptTokens, Cached: c.Usage.PromptTokensDetails.CachedTokens, Output: c.Usage.CompletionTokens,
		},
	}
	if len(c.Choices) > 0 {
		reply.Text, reply.StopReason = c.Choices[0].Message.Content, model.Word(c.Choices[0].FinishReason)
	}
	return reply
}

// failure is why a choice is no answer, by its finish reason; nil if it is one.
func failure(call *model.Call, choice sdk.ChatCompletionChoice) error {
	why := "finished: " + model.Word(choice.FinishReason)
	switch {
	case choice.FinishReason == "length":
		return &observer.Failure{Class: events.FailTruncated, Message: why}
	case choice.FinishReason == "content_filter", choice.Message.Refusal != "":
		return &observer.Failure{Class: events.FailRefused, Message: why}
	case choice.FinishReason == "error": // OpenRouter: the service behind it failed
		return call.Refused([]byte(choice.RawJSON()))
	}
	return nil
}

// cost is what OpenRouter says an answer cost, in US dollars, of a free one that it is 0; the others do not say.
func cost(c *sdk.ChatCompletion) (usd float64, stated bool) {
	dollars, err := strconv.ParseFloat(c.Usage.JSON.ExtraFields["cost"].Raw(), 64)
	if err != nil || dollars < 0 || math.IsNaN(dollars) || math.IsInf(dollars, 0) {
		return 0, false
	}
	return dollars, true
}
