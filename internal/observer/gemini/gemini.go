package gemini

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// Name is the provider's name in streams and settings.
const Name = "gemini"

// Asker asks one model. It is safe for concurrent use.
type Asker struct {
	*model.Client
	freely atomic.Bool // the model does not take it to be told how much to think
}

var _ model.Asker = (*Asker)(nil)

// New returns an asker of the model that the API calls name, which has connected to nothing yet.
func New(name string, e model.Endpoint) (*Asker, error) {
	client, err := model.NewClient(model.Service{
		Name: Name, URL: "https://generativelanguage.googleapis.com", KeyHeader: "X-Goog-Api-Key",
	}, name, e)
	return &Asker{Client: client}, err
}

// resource is the name of a model as it stands in the URL.
func resource(name string) string {
	if strings.HasPrefix(name, "models/") || strings.HasPrefix(name, "tunedModels/") {
		return name
	}
	return "models/" + name
}

// Ask puts q to the model and returns the whole answer. Where the model refuses to be told how much to think, it is not told
// so any more.
func (a *Asker) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	asked := a.request(q)
	again := func(refused []string) bool {
		thinking := asked.Config.Thinking != nil && slices.ContainsFunc(refused, namesThinking)
		if thinking {
			a.freely.Store(true)
		}
		return thinking
	}
	path := "v1beta/" + resource(a.Model()) + ":generateContent"
	return a.Client.Ask(ctx, q, model.Exchange{Path: path, Asked: asked, Read: read, Again: again})
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
		r.Config.Thinking = leastThinking(a.Model())
	}
	if q.Form == events.FormStructured {
		r.Config.MIMEType, r.Config.Schema = "application/json", q.Schema
	}
	return r
}

// read is the text of the first candidate and what it was paid with. Where the prompt was blocked there is none.
func read(body []byte) model.Answer {
	var r response
	if json.Unmarshal(body, &r) != nil {
		return model.Answer{}
	}
	u := r.Usage
	a := model.Answer{Reply: observer.Reply{
		Bill: events.Bill{Model: r.Model, Usage: events.Usage{Input: int64(u.Prompt), Cached: int64(u.Cached), Output: int64(u.Candidates + u.Thoughts)}},
	}}
	switch {
	case len(r.Candidates) > 0:
		first := r.Candidates[0]
		a.Text, a.StopReason = events.NewOutput(first.said()), model.Word(first.Reason)
		a.Whole, a.Class, a.Reason = true, classOf(first.Reason), "finished: "+a.StopReason
	case r.Blocked != nil:
		a.Whole, a.Class, a.Reason = true, events.FailRefused, "blocked: "+model.Word(r.Blocked.Reason)
	}
	return a
}

// classOf is why a candidate is no answer, by its finish reason; empty if it is one.
func classOf(reason string) events.FailureClass {
	switch reason {
	case "STOP", "FINISH_REASON_UNSPECIFIED", "":
		return ""
	case "MAX_TOKENS":
		return events.FailTruncated
	}
	return events.FailRefused
}
