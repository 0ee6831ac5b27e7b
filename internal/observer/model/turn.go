package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// turn is one question of a prompt, with all that is asked for it.
type turn struct {
	*Provider
	prompt  observer.Prompt
	paid    turnBill
	asked   int               // requests, in whichever mode
	retries int               // of them, after a failure that passes
	last    *observer.Failure // of them
}

// complete asks in the mode that is settled, and where it is refused finds out whether that is why.
func (t *turn) complete(ctx context.Context) (observer.Reply, error) {
	m, proven := t.modes.current()
	reply, err := t.ask(ctx, m)
	if errors.Is(err, ErrForm) {
		if !t.modes.dropForm(m.form) {
			return observer.Reply{}, noForm(m.form)
		}
		m, _ = t.modes.current()
		reply, err = t.ask(ctx, m)
	}
	switch {
	case errors.Is(err, ErrForm):
		return observer.Reply{}, noForm(m.form)
	case err != nil:
		return t.doubted(ctx, m, proven, err)
	case !proven && t.cfg.Form == "" && m.form == events.FormStructured && observer.Unstructured(reply.Text):
		return t.ignored(ctx, m)
	case !reply.Text.IsZero():
		t.modes.confirm(m)
	}
	return reply, nil
}

// ignored asks in a form that needs no keeping to, where the service took the structured one and did not hold itself to it.
func (t *turn) ignored(ctx context.Context, m requestMode) (observer.Reply, error) {
	reply, err := t.ask(ctx, t.modes.plainest())
	if err == nil {
		t.modes.doubt(m, true)
	}
	return reply, err
}

// doubted asks in plainer modes where refused, the answer to one in m, blames the request without a word of what in it is
// wrong. It was the mode if the same prompt is answered now; else refused stands.
func (t *turn) doubted(ctx context.Context, m requestMode, proven bool, refused error) (observer.Reply, error) {
	failure, ok := errors.AsType[*observer.Failure](refused)
	if !ok || !doubtsRequest(failure) {
		return observer.Reply{}, refused
	}
	if plain := t.modes.plainest(); plain != m {
		if reply, err := t.ask(ctx, plain); err == nil {
			t.modes.doubt(m, false)
			return reply, nil
		}
	}
	if t.cfg.Form == events.FormStructured && !proven && failure.Class == events.FailRefused && t.answersInXML(ctx) {
		return observer.Reply{}, noForm(m.form)
	}
	return observer.Reply{}, refused
}

// answersInXML reports whether the prompt is answered in XML, though nobody wants it so: a form that was set by hand and is
// not to be had is for a person to mend, and must not cost the turn's inputs.
func (t *turn) answersInXML(ctx context.Context) bool {
	_, err := t.ask(ctx, requestMode{form: events.FormXML})
	return err == nil
}

// noForm is a service that does not answer in the form that it has to be asked in.
func noForm(form events.Form) *observer.Failure {
	return &observer.Failure{
		Class: events.FailSetup, Message: fmt.Sprintf("the service does not answer in the form %q", form), Form: form,
	}
}

// ask asks in one mode, with what retries are left.
func (t *turn) ask(ctx context.Context, m requestMode) (observer.Reply, error) {
	q := t.cfg.Renderer.Question(t.prompt, m.form)
	q.Kind, q.Form, q.LeastThinking, q.MaxTokens = t.prompt.Kind, m.form, m.leastThinking, cmp.Or(q.MaxTokens, t.cfg.MaxTokens)
	q.System, q.User = t.cfg.Redact(q.System), t.cfg.Redact(q.User)
	if m.form == events.FormStructured {
		kind := events.TurnObservation
		if t.prompt.Kind == events.TurnSummary {
			kind = events.TurnSummary
		}
		q.Schema = t.schemas[kind]
	}
	reply, err := t.retried(ctx, q)
	if failure, ok := errors.AsType[*observer.Failure](err); ok {
		own := *failure
		own.Form = m.form
		return observer.Reply{}, &own
	}
	reply.Form = m.form
	reply.Text = reply.Text.Valid()
	return reply, err
}
