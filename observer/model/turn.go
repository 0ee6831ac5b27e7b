package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
)

// turn is one question of a prompt, with all that is asked for it.
type turn struct {
	*Provider
	prompt observer.Prompt
	paid   paid
}

// complete asks in the form that is settled. While none is, it asks in the structured one and finds out.
func (t *turn) complete(ctx context.Context) (observer.Reply, error) {
	settled, _ := t.form.Load().(events.Form)
	form := cmp.Or(settled, events.FormStructured)
	reply, err := t.ask(ctx, form)
	switch {
	case errors.Is(err, ErrForm):
		t.form.Store(events.FormXML)
		return t.ask(ctx, events.FormXML)
	case settled != "":
		return reply, err
	case err != nil:
		return t.insteadOf(ctx, err)
	case observer.Unstructured(reply.Text):
		t.form.Store(events.FormXML) // the service took the structured form and did not hold itself to it
		return t.ask(ctx, events.FormXML)
	case reply.Text != "":
		t.form.Store(events.FormStructured)
	}
	return reply, nil
}

// insteadOf asks in XML where refused, the answer to the first structured question, blames the request without a word of
// what in it is wrong. It was the form if the same prompt is answered now; else refused stands.
func (t *turn) insteadOf(ctx context.Context, refused error) (observer.Reply, error) {
	failure, ok := errors.AsType[*observer.Failure](refused)
	if !ok || !doubtsRequest(failure) {
		return observer.Reply{}, refused
	}
	reply, err := t.ask(ctx, events.FormXML)
	if err != nil {
		return observer.Reply{}, refused
	}
	t.form.Store(events.FormXML)
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

// ask asks in one form, with retries.
func (t *turn) ask(ctx context.Context, form events.Form) (observer.Reply, error) {
	q := t.cfg.Renderer.Question(t.prompt, form)
	q.Kind, q.Form, q.MaxTokens = t.prompt.Kind, form, cmp.Or(q.MaxTokens, t.cfg.MaxTokens)
	q.System, q.User = t.cfg.Redact(q.System), t.cfg.Redact(q.User)
	if form == events.FormStructured {
		kind := events.TurnObservation
		if t.prompt.Kind == events.TurnSummary {
			kind = events.TurnSummary
		}
		q.Schema = t.schemas[kind]
	}
	reply, err := t.retried(ctx, q)
	if errors.Is(err, ErrForm) && (form == events.FormXML || t.cfg.Form != "") {
		err = &observer.Failure{Class: events.FailSetup, Message: fmt.Sprintf("the service does not answer in the form %q", form)}
	}
	if failure, ok := errors.AsType[*observer.Failure](err); ok {
		own := *failure
		own.Form = form
		return observer.Reply{}, &own
	}
	reply.Form = form
	reply.Text = strings.ToValidUTF8(reply.Text, "\uFFFD")
	return reply, err
}
