package model

import (
	"context"
	"errors"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Guarded is an asker whose answers do not hold its key, though a service should say it back: they are recorded.
type Guarded struct {
	Asker
	Key   *Key           // nil: none is sent
	OnAsk func(Question) // is given each question before it goes out; may be nil
}

// Ask puts q to the asker.
func (g Guarded) Ask(ctx context.Context, q Question) (observer.Reply, error) {
	if g.OnAsk != nil {
		g.OnAsk(q)
	}
	reply, err := g.Asker.Ask(ctx, q)
	failure, failed := errors.AsType[*observer.Failure](err)
	if g.Key == nil || reply.Text.IsZero() && reply.Model == "" && (!failed || failure.Output.IsZero() && failure.Model == "") {
		return reply, err
	}
	key, noKey := g.Key.Get(ctx) // it is known: there was an answer
	without := func(text string) string {
		switch {
		case noKey != nil: // the turn is over, and nobody waits for another key
			return ""
		case len(key) >= minDistinctKeyLength:
			return strings.ReplaceAll(text, key, keyMark)
		}
		return text
	}
	reply.Text = events.NewOutput(without(reply.Text.RawText()))
	reply.Model, reply.StopReason = without(reply.Model), without(reply.StopReason)
	if failed {
		failure.Output, failure.Model = events.NewOutput(without(failure.Output.RawText())), without(failure.Model)
	}
	return reply, err
}

const (
	// minDistinctKeyLength is the length from which a text can be taken for the key wherever it stands. Those of the services have
	// 39 characters or more; what somebody gives a local server that wants a word may be any.
	minDistinctKeyLength = 16

	keyMark = "[key]"
)
