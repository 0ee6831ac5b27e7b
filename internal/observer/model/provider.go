package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Config of a Provider. Name, Asker and Renderer are needed.
type Config struct {
	Name        string // in streams and settings: lowercase, without spaces
	Asker       Asker
	Renderer    Renderer
	Mode        observer.Mode       // whose types and concepts the structured form offers; zero: observer.CodeMode
	Redact      func(string) string // takes out of a question what must not leave the machine; nil: nothing
	Form        events.Form         // how to ask; empty: structured where the service takes it, else XML
	Log         *slog.Logger        // gets a line when a form is settled; nil: discarded
	BatchLimits policy.BatchLimits  // zero: policy.ModelLimits

	// LeastThinking: the model is told to think as little as it can, where the service takes that.
	LeastThinking bool

	Retries   int           // in a turn, after failures that pass; 0: 2; below 0: none
	Backoff   time.Duration // before the first retry, where the service does not say; doubles; 0: 500 ms
	Timeout   time.Duration // of a turn with all its tries; 0: 60 s
	MaxTokens int           // of an answer; 0: 8192, which holds what a batch of 20 inputs comes to
}

// Provider is an observer.Provider that asks a language model. Which form the service takes is found out by its answers and
// remembered as long as the Provider lives.
type Provider struct {
	cfg     Config
	schemas map[events.TurnKind]json.RawMessage
	modes   *requestModes
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
	c.BatchLimits = cmp.Or(c.BatchLimits, policy.ModelLimits())
	c.Retries = max(0, cmp.Or(c.Retries, 2))
	c.Backoff = cmp.Or(c.Backoff, 500*time.Millisecond)
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	c.MaxTokens = cmp.Or(c.MaxTokens, 8192)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	p := &Provider{cfg: c, schemas: map[events.TurnKind]json.RawMessage{}, modes: newRequestModes(c)}
	for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
		p.schemas[kind] = observer.Schema(kind, c.Mode)
	}
	return p, nil
}

// Name returns the configured name.
func (p *Provider) Name() string { return p.cfg.Name }

// Model names the model that is asked.
func (p *Provider) Model() string { return p.cfg.Asker.Model() }

// BatchLimits returns the configured limits.
func (p *Provider) BatchLimits() policy.BatchLimits { return p.cfg.BatchLimits }

// Complete asks the service, again where that is worth it, and returns the whole answer. Its errors are those of
// observer.Provider. No error of it holds a word of the prompt, of the answer, or of the key.
func (p *Provider) Complete(ctx context.Context, prompt observer.Prompt) (observer.Reply, error) {
	if err := ctx.Err(); err != nil {
		return observer.Reply{}, err
	}
	limited, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	t := &turn{Provider: p, prompt: prompt}
	reply, err := t.complete(limited)
	failure, typed := errors.AsType[*observer.Failure](err)
	switch {
	case err == nil && reply.Text.Len() > maxOutput:
		return observer.Reply{}, t.paid.failure(observer.Failure{
			Class: events.FailTruncated, Message: fmt.Sprintf("an answer of %d bytes, at most %d", reply.Text.Len(), maxOutput),
			Output: reply.Text.Clip(maxOutput), Form: reply.Form,
		})
	case err == nil:
		return t.paid.reply(reply), nil
	case ctx.Err() != nil:
		return t.paid.reply(observer.Reply{}), ctx.Err()
	case typed:
		return observer.Reply{}, t.paid.failure(*failure)
	case limited.Err() != nil:
		return observer.Reply{}, t.paid.failure(observer.Failure{
			Class: events.FailTimeout, Message: fmt.Sprintf("no answer within %v", p.cfg.Timeout),
		})
	}
	return t.paid.reply(observer.Reply{}), err
}
