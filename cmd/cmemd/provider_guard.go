package main

import (
	"context"
	"errors"
	"strings"

	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/observer/model"
)

// guarded is an asker whose answers do not hold its key, though a service should say it back: they are recorded.
type guarded struct {
	model.Asker
	key   *model.Key
	asked func(model.Question)
}

// Ask puts q to the asker.
func (g guarded) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	if g.asked != nil {
		g.asked(q)
	}
	reply, err := g.Asker.Ask(ctx, q)
	failure, failed := errors.AsType[*observer.Failure](err)
	if g.key == nil || reply.Text == "" && (!failed || failure.Output == "") {
		return reply, err
	}
	key, noKey := g.key.Get(ctx) // it is known: there was an answer
	if noKey != nil || len(key) < shortestKey {
		return reply, err
	}
	for _, text := range []*string{&reply.Text, &reply.Model, &reply.StopReason} {
		*text = strings.ReplaceAll(*text, key, keyMark)
	}
	if failed {
		failure.Output = strings.ReplaceAll(failure.Output, key, keyMark)
	}
	return reply, err
}

const (
	// shortestKey is the length from which a text can be taken for the key wherever it stands. Those of the services have
	// 39 characters or more; what somebody gives a local server that wants a word may be any.
	shortestKey = 16

	keyMark = "[key]"
)
