package gemini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

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
	Thinking *int32 // tokens that the model may think with before it answers; 0: none; nil: what the model likes
	Endpoint model.Endpoint
}

// Asker asks one model. It is safe for concurrent use.
type Asker struct {
	model    string
	thinking *int32
	client   *http.Client
	models   *genai.Models
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
	a := &Asker{model: c.Model, thinking: c.Thinking, client: model.NewClient(c.Endpoint, "X-Goog-Api-Key")}
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

// Ask puts q to the model and returns the whole answer.
func (a *Asker) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	watched, call := model.Watch(ctx, q)
	got, err := a.models.GenerateContent(watched, a.model, genai.Text(q.User), a.config(q))
	if err != nil || len(got.Candidates) == 0 && got.PromptFeedback == nil {
		return observer.Reply{}, call.Failed(ctx, err)
	}
	return answer(got)
}

func (a *Asker) config(q model.Question) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{MaxOutputTokens: int32(min(q.MaxTokens, 1<<20)), CandidateCount: 1}
	if q.System != "" {
		c.SystemInstruction = genai.NewContentFromText(q.System, genai.RoleUser)
	}
	if a.thinking != nil {
		c.ThinkingConfig = &genai.ThinkingConfig{ThinkingBudget: a.thinking}
	}
	if q.Form == events.FormStructured {
		c.ResponseMIMEType, c.ResponseJsonSchema = "application/json", q.Schema
	}
	return c
}

// answer is what a response comes to, by what it says of the prompt and by its finish reason.
func answer(r *genai.GenerateContentResponse) (observer.Reply, error) {
	paid := usage(r.UsageMetadata)
	failure := func(class events.FailureClass, why, output string) error {
		return &observer.Failure{Class: class, Message: why, Output: output, Usage: paid}
	}
	if len(r.Candidates) == 0 {
		return observer.Reply{}, failure(events.FailRefused, "blocked: "+model.Word(string(r.PromptFeedback.BlockReason)), "")
	}
	c := r.Candidates[0]
	text, reason := said(c), model.Word(string(c.FinishReason))
	switch c.FinishReason {
	case genai.FinishReasonStop, genai.FinishReasonUnspecified, "":
		return observer.Reply{Text: text, StopReason: reason, Usage: paid, Model: r.ModelVersion}, nil
	case genai.FinishReasonMaxTokens:
		return observer.Reply{}, failure(events.FailTruncated, "finished: "+reason, text)
	}
	return observer.Reply{}, failure(events.FailRefused, "finished: "+reason, text)
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
