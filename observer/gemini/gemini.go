package gemini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/genai"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/observer/model"
)

// Name is the provider's name in streams and settings.
const Name = "gemini"

// baseURL is Google's own; it is given always, because the library would look for another in the environment.
const baseURL = "https://generativelanguage.googleapis.com/"

// Config of an Asker.
type Config struct {
	Model    string // as the API names it; needed
	Endpoint model.Endpoint
}

// Asker asks one model. It is safe for concurrent use.
type Asker struct {
	model  string
	client *http.Client
	models *genai.Models
	freely atomic.Bool // the model does not take it to be told how much to think
}

var _ model.Asker = (*Asker)(nil)

// New checks c and returns an asker that has connected to nothing yet.
func New(c Config) (*Asker, error) {
	if c.Model == "" {
		return nil, errors.New("gemini: no model is named")
	}
	if err := c.Endpoint.Check(); err != nil {
		return nil, fmt.Errorf("gemini: %w", err)
	}
	a := &Asker{model: c.Model, client: model.NewClient(c.Endpoint, "X-Goog-Api-Key")}
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{ // it connects to nothing
		Backend: genai.BackendGeminiAPI, HTTPClient: a.client,
		APIKey:      "added by the HTTP client", // else it takes one from the environment; the real one never gets into its errors
		HTTPOptions: genai.HTTPOptions{BaseURL: cmp.Or(c.Endpoint.URL, baseURL)},
	})
	if err != nil {
		return nil, errors.New("gemini: the client refuses its settings")
	}
	a.models = client.Models
	return a, nil
}

// Model names what is asked.
func (a *Asker) Model() string { return a.model }

// CloseIdleConnections closes what is kept open for the next question.
func (a *Asker) CloseIdleConnections() { a.client.CloseIdleConnections() }

// Ask puts q to the model and returns the whole answer. Where the service refuses that the model is told how much to think,
// it is not told so any more.
func (a *Asker) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	watched, call := model.Watch(ctx, q)
	config := a.config(q)
	got, err := a.models.GenerateContent(watched, a.model, genai.Text(q.User), config)
	if err != nil && config.ThinkingConfig != nil && slices.ContainsFunc(call.Objects(), namesThinking) {
		a.freely.Store(true)
		return call.Outcome(observer.Reply{}, model.ErrAgain)
	}
	if err != nil || len(got.Candidates) == 0 && got.PromptFeedback == nil {
		return call.Outcome(told(got), call.Failed(ctx, err))
	}
	return call.Outcome(told(got), failure(got))
}

func (a *Asker) config(q model.Question) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{MaxOutputTokens: int32(min(q.MaxTokens, 1<<20)), CandidateCount: 1}
	if q.System != "" {
		c.SystemInstruction = genai.NewContentFromText(q.System, genai.RoleUser)
	}
	if q.LeastThinking && !a.freely.Load() {
		c.ThinkingConfig = leastThinking(a.model)
	}
	if q.Form == events.FormStructured {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", q.Schema
	}
	return c
}

// told is the answer of a response, if there is one, and what it was paid with.
func told(r *genai.GenerateContentResponse) observer.Reply {
	if r == nil {
		return observer.Reply{}
	}
	reply := observer.Reply{Usage: usage(r.UsageMetadata), Model: r.ModelVersion}
	if len(r.Candidates) > 0 {
		reply.Text, reply.StopReason = said(r.Candidates[0]), model.Word(string(r.Candidates[0].FinishReason))
	}
	return reply
}

// failure is why a response is no answer, by what it says of the prompt and by its finish reason; nil if it is one.
func failure(r *genai.GenerateContentResponse) error {
	if len(r.Candidates) == 0 {
		return &observer.Failure{Class: events.FailRefused, Message: "blocked: " + model.Word(string(r.PromptFeedback.BlockReason))}
	}
	reason := r.Candidates[0].FinishReason
	why := "finished: " + model.Word(string(reason))
	switch reason {
	case genai.FinishReasonStop, genai.FinishReasonUnspecified, "":
		return nil
	case genai.FinishReasonMaxTokens:
		return &observer.Failure{Class: events.FailTruncated, Message: why}
	}
	return &observer.Failure{Class: events.FailRefused, Message: why}
}

// said is the text of a candidate without its thoughts.
func said(c *genai.Candidate) string {
	var b strings.Builder
	if c.Content != nil {
		for _, p := range c.Content.Parts {
			if p != nil && !p.Thought {
				b.WriteString(p.Text)
			}
		}
	}
	return b.String()
}

// usage counts thoughts as output, as they are paid.
func usage(u *genai.GenerateContentResponseUsageMetadata) events.Usage {
	if u == nil {
		return events.Usage{}
	}
	return events.Usage{
		Input: int64(u.PromptTokenCount), Cached: int64(u.CachedContentTokenCount),
		Output: int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount),
	}
}
