package model

import (
	"context"
	"errors"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
)

// Question is one turn as a service is asked it. It stands alone.
type Question struct {
	Kind      events.TurnKind
	System    string      // role and format: the same for every turn of a mode, so that a service can cache it
	User      string      // the brief and the batch
	Form      events.Form // how the answer is to be given
	MaxTokens int         // of the answer; never 0
}

// Asker puts a question to one model of one service, once, without retries. It is safe for concurrent use, returns when
// ctx is done, and then with ctx.Err(). A failure of the service or of the turn is an *observer.Failure; any other error
// is a crash. Failures that are worth a retry say so by Retryable.
type Asker interface {
	// Model names what is asked.
	Model() string
	// Ask returns the whole text of the answer. A service that cannot answer in q.Form returns ErrForm.
	Ask(ctx context.Context, q Question) (observer.Reply, error)
}

// ErrForm is what Ask returns where the service cannot answer in the form that was asked for.
var ErrForm = errors.New("model: the service cannot answer in this form")
