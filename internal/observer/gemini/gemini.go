package gemini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// Name is the provider's name in streams and settings.
const Name = "gemini"

// baseURL is where the service is.
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
	url    string      // where questions go
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
	base, err := url.Parse(cmp.Or(c.Endpoint.URL, baseURL))
	if err != nil {
		return nil, errors.New("gemini: the base URL is not one")
	}
	return &Asker{
		model: c.Model, client: model.NewClient(c.Endpoint, "X-Goog-Api-Key"),
		url: base.JoinPath("v1beta", resource(c.Model)+":generateContent").String(),
	}, nil
}

// resource is the name of a model as it stands in the URL.
func resource(name string) string {
	if strings.HasPrefix(name, "models/") || strings.HasPrefix(name, "tunedModels/") {
		return name
	}
	return "models/" + name
}

// Model names what is asked.
func (a *Asker) Model() string { return a.model }

// CloseIdleConnections closes what is kept open for the next question.
func (a *Asker) CloseIdleConnections() { a.client.CloseIdleConnections() }

// Ask puts q to the model and returns the whole answer. Where the model refuses to be told how much to think, it is not told
// so any more.
func (a *Asker) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	watched, call := model.Watch(ctx, q)
	asked, got := a.request(q), response{}
	_, err := model.Post(watched, a.client, a.url, asked, &got)
	if err != nil && asked.Config.Thinking != nil && slices.ContainsFunc(call.Objects(), namesThinking) {
		a.freely.Store(true)
		return call.Outcome(observer.Reply{}, model.ErrAgain)
	}
	if err != nil || len(got.Candidates) == 0 && got.Blocked == nil {
		return call.Outcome(got.told(), call.Failed(ctx, err))
	}
	return call.Outcome(got.told(), got.failure())
}

func (a *Asker) request(q model.Question) request {
	r := request{
		Contents: []content{{Role: "user", Parts: []part{{Text: q.User}}}},
		Config:   config{MaxTokens: min(q.MaxTokens, 1<<20), Candidates: 1},
	}
	if q.System != "" {
		r.System = &content{Role: "user", Parts: []part{{Text: q.System}}}
	}
	if q.LeastThinking && !a.freely.Load() {
		r.Config.Thinking = leastThinking(a.model)
	}
	if q.Form == events.FormStructured {
		r.Config.MIMEType, r.Config.Schema = "application/json", q.Schema
	}
	return r
}

// told is the text of the first candidate and what it was paid with.
func (r *response) told() observer.Reply {
	u := r.Usage
	reply := observer.Reply{
		Bill: events.Bill{Model: r.Model, Usage: events.Usage{Input: int64(u.Prompt), Cached: int64(u.Cached), Output: int64(u.Candidates + u.Thoughts)}},
	}
	if len(r.Candidates) > 0 {
		reply.Text, reply.StopReason = events.NewOutput(r.Candidates[0].said()), model.Word(r.Candidates[0].Reason)
	}
	return reply
}

// failure is why a response is no answer: the prompt was blocked, or the candidate did not finish; nil if it is one.
func (r *response) failure() error {
	if len(r.Candidates) == 0 {
		return &observer.Failure{Class: events.FailRefused, Message: "blocked: " + model.Word(r.Blocked.Reason)}
	}
	reason := r.Candidates[0].Reason
	why := "finished: " + model.Word(reason)
	switch reason {
	case "STOP", "FINISH_REASON_UNSPECIFIED", "":
		return nil
	case "MAX_TOKENS":
		return &observer.Failure{Class: events.FailTruncated, Message: why}
	}
	return &observer.Failure{Class: events.FailRefused, Message: why}
}
