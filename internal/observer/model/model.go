package model

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Question is one turn as a service is asked it. It stands alone.
type Question struct {
	Kind      events.TurnKind
	System    string          // role and format: the same for every turn of a mode, so that a service can cache it
	User      string          // the brief and the batch
	Form      events.Form     // how the answer is to be given
	Schema    json.RawMessage // what the answer must keep to in the structured form (see observer.Schema); else nil
	MaxTokens int             // of the answer; never 0

	// LeastThinking: the model is to think as little as it can before it answers. An Asker that cannot tell it so passes over it.
	LeastThinking bool
}

// Renderer makes the question of a prompt: the same bytes for the same arguments. Whether a form is set, a schema or a
// bound of tokens, is up to the Provider, which adds them. It is safe for concurrent use and does not change p.
type Renderer interface {
	Question(p observer.Prompt, form events.Form) Question
}

// Asker puts a question to one model of one service, once, without retries. It is safe for concurrent use, returns when
// ctx is done, and then with ctx.Err(). A failure of the service or of the turn is an *observer.Failure; any other error
// but ErrForm and ErrAgain is a crash. Which failures are worth a retry is said by Retryable.
type Asker interface {
	// Model names what is asked.
	Model() string
	// Ask returns the whole text of the answer. A service that says that it cannot answer in q.Form returns ErrForm, and one that
	// names something else in the request that the Asker can do without from now on, ErrAgain. What was paid (Usage, Cost, Calls,
	// Model) is in the Reply or in the *Failure, as far as the service reported it; beside any other error, in a Reply that has no
	// Text. Beside a Text, Calls 0 is one.
	Ask(ctx context.Context, q Question) (observer.Reply, error)
}

// ErrAgain is the error of an Asker whose service refused, by a typed answer that names it, a part of the request that it
// needs not have. The Asker does without it from then on, so the same question is worth asking at once.
var ErrAgain = errors.New("model: the service has to be asked in another way")

// ErrForm is the error of an Asker whose service refuses the form that was asked for, by a typed answer that names it.
var ErrForm = errors.New("model: the service does not answer in this form")
