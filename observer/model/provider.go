package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/policy"
)

// Config of a Provider. Name, Asker and Renderer are needed.
type Config struct {
	Name     string // in streams and settings: lowercase, without spaces
	Asker    Asker
	Renderer Renderer
	Mode     observer.Mode       // whose types and concepts the structured form offers; zero: observer.CodeMode
	Redact   func(string) string // takes out of a question what must not leave the machine; nil: nothing
	Form     events.Form         // how to ask; empty: structured where the service takes it, else XML
	Wish     policy.Wish         // zero: policy.ModelWish

	Retries   int           // after the first try; 0: 2; below 0: none
	Backoff   time.Duration // before the first retry, where the service does not say; doubles; 0: 500 ms
	Timeout   time.Duration // of a turn with all its tries; 0: 60 s
	MaxTokens int           // of an answer; 0: 8192, which holds what a batch of 20 inputs comes to
}

// Provider is an observer.Provider that asks a language model. Which form the service takes is found out once and
// remembered as long as the Provider lives.
type Provider struct {
	cfg     Config
	schemas map[events.TurnKind]json.RawMessage
	form    atomic.Value // of events.Form: the one that is settled; not set before
}

var _ observer.Provider = (*Provider)(nil)

// maxOutput is the longest text in bytes that is taken for an answer. It is stored whole, for ever, and is many times what
// MaxTokens allow.
const maxOutput = 256 << 10

// New checks c and returns a provider that has asked nothing yet.
func New(c Config) (*Provider, error) {
	switch {
	case !regexp.MustCompile(`^[a-z0-9]+([-_.][a-z0-9]+)*$`).MatchString(c.Name):
		return nil, fmt.Errorf("model: the name %q is not lowercase without spaces", c.Name)
	case c.Asker == nil || c.Renderer == nil:
		return nil, fmt.Errorf("model: %s has nobody to ask or nothing to ask with", c.Name)
	case c.Form != "" && c.Form != events.FormXML && c.Form != events.FormStructured:
		return nil, fmt.Errorf("model: %s: form %q is neither %q nor %q", c.Name, c.Form, events.FormXML, events.FormStructured)
	case c.Backoff < 0 || c.Timeout < 0 || c.MaxTokens < 0:
		return nil, fmt.Errorf("model: %s: a limit is below zero", c.Name)
	}
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	if c.Mode.ID == "" {
		c.Mode = observer.CodeMode()
	}
	c.Wish = cmp.Or(c.Wish, policy.ModelWish())
	c.Retries = max(0, cmp.Or(c.Retries, 2))
	c.Backoff = cmp.Or(c.Backoff, 500*time.Millisecond)
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	c.MaxTokens = cmp.Or(c.MaxTokens, 8192)
	p := &Provider{cfg: c, schemas: map[events.TurnKind]json.RawMessage{}}
	for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
		p.schemas[kind] = observer.Schema(kind, c.Mode)
	}
	if c.Form != "" {
		p.form.Store(c.Form)
	}
	return p, nil
}

// Name returns the configured name.
func (p *Provider) Name() string { return p.cfg.Name }

// Model names the model that is asked.
func (p *Provider) Model() string { return p.cfg.Asker.Model() }

// Wish returns the configured wish.
func (p *Provider) Wish() policy.Wish { return p.cfg.Wish }

// Complete asks the service, again where that is worth it, and returns the whole answer. Its errors are those of
// observer.Provider. No error of it holds a word of the prompt, of the answer, or of the key.
func (p *Provider) Complete(ctx context.Context, prompt observer.Prompt) (observer.Reply, error) {
	if err := ctx.Err(); err != nil {
		return observer.Reply{}, err
	}
	limited, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	reply, err := p.complete(limited, prompt)
	failure, typed := errors.AsType[*observer.Failure](err)
	switch {
	case err == nil && len(reply.Text) > maxOutput:
		return observer.Reply{}, &observer.Failure{
			Class: events.FailTruncated, Message: fmt.Sprintf("an answer of %d bytes, at most %d", len(reply.Text), maxOutput),
			Output: strings.ToValidUTF8(reply.Text[:maxOutput], "\uFFFD"), Usage: reply.Usage,
		}
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return observer.Reply{}, ctx.Err()
	case typed:
		return observer.Reply{}, failure
	case limited.Err() != nil:
		return observer.Reply{}, &observer.Failure{
			Class: events.FailTimeout, Message: fmt.Sprintf("no answer within %v", p.cfg.Timeout),
		}
	}
	return observer.Reply{}, err
}

// complete asks in the form that is settled. While none is, it asks in the structured one and finds out.
func (p *Provider) complete(ctx context.Context, prompt observer.Prompt) (observer.Reply, error) {
	settled, _ := p.form.Load().(events.Form)
	form := cmp.Or(settled, events.FormStructured)
	reply, err := p.ask(ctx, prompt, form)
	switch {
	case errors.Is(err, ErrForm):
		p.form.Store(events.FormXML)
		return p.ask(ctx, prompt, events.FormXML)
	case settled != "":
		return reply, err
	case err != nil:
		return p.insteadOf(ctx, prompt, err)
	case observer.Unstructured(reply.Text):
		return p.insteadOfProse(ctx, prompt, reply)
	case reply.Text != "":
		p.form.Store(events.FormStructured)
	}
	return reply, nil
}

// insteadOf asks in XML where refused, the answer to the first structured question, blames the request without a word of
// what in it is wrong. It was the form if the same prompt is answered now; else refused stands.
func (p *Provider) insteadOf(ctx context.Context, prompt observer.Prompt, refused error) (observer.Reply, error) {
	failure, ok := errors.AsType[*observer.Failure](refused)
	if !ok || !doubtsRequest(failure) {
		return observer.Reply{}, refused
	}
	reply, err := p.ask(ctx, prompt, events.FormXML)
	if err != nil {
		return observer.Reply{}, refused
	}
	p.form.Store(events.FormXML)
	return reply, nil
}

// doubtsRequest reports whether f may be about the form of the question as well as about anything else in it.
func doubtsRequest(f *observer.Failure) bool {
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return f.Class == events.FailRefused
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}

// insteadOfProse asks in XML where a service took the structured form and did not hold itself to it. Both answers were
// paid for.
func (p *Provider) insteadOfProse(ctx context.Context, prompt observer.Prompt, prose observer.Reply) (observer.Reply, error) {
	p.form.Store(events.FormXML)
	reply, err := p.ask(ctx, prompt, events.FormXML)
	reply.Usage.Input += prose.Usage.Input
	reply.Usage.Cached += prose.Usage.Cached
	reply.Usage.Output += prose.Usage.Output
	reply.Cost += prose.Cost
	return reply, err
}

// ask asks in one form, with retries.
func (p *Provider) ask(ctx context.Context, prompt observer.Prompt, form events.Form) (observer.Reply, error) {
	q := p.cfg.Renderer.Question(prompt, form)
	q.Kind, q.Form, q.MaxTokens = prompt.Kind, form, cmp.Or(q.MaxTokens, p.cfg.MaxTokens)
	q.System, q.User = p.cfg.Redact(q.System), p.cfg.Redact(q.User)
	if form == events.FormStructured {
		kind := events.TurnObservation
		if prompt.Kind == events.TurnSummary {
			kind = events.TurnSummary
		}
		q.Schema = p.schemas[kind]
	}
	reply, err := p.retried(ctx, q)
	if errors.Is(err, ErrForm) && (form == events.FormXML || p.cfg.Form != "") {
		err = &observer.Failure{Class: events.FailSetup, Message: fmt.Sprintf("the service does not answer in the form %q", form)}
	}
	reply.Form = form
	reply.Text = strings.ToValidUTF8(reply.Text, "\uFFFD")
	return reply, err
}
