package anthropic

import (
	"context"
	"net/http"
	"sync"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// ability is what a model takes of what not all of them take.
type ability struct {
	keepToSchema bool // an answer held to a schema (output_config.format)
	thinkLess    bool // an effort
	thinkNot     bool // to be told not to think
}

// unsaid is what is supposed of models of which the service does not tell: what most of them take, and other services that
// speak this API pass over.
func unsaid() ability { return ability{keepToSchema: true, thinkNot: true} }

// lookTime is how long a look may take before a question, which is asked all the same.
const lookTime = 5 * time.Second

// abilities finds out, once, what a model can. It is safe for concurrent use.
type abilities struct {
	models sdk.ModelService

	mu    sync.Mutex // guards the field below
	known *ability   // nil: not yet
}

// of is what the model called name can. A service that could not be asked is asked again before the next question.
func (a *abilities) of(ctx context.Context, name string) ability {
	a.mu.Lock()
	known := a.known
	a.mu.Unlock()
	if known != nil {
		return *known
	}
	can, told := a.look(ctx, name)
	if told {
		a.mu.Lock()
		a.known = &can
		a.mu.Unlock()
	}
	return can
}

// look asks the service what the model can. It reports whether it will say the same again: it did say, or what
// answered is a service that knows no such question.
func (a *abilities) look(ctx context.Context, name string) (can ability, told bool) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var answer *http.Response
	info, err := a.models.Get(ctx, name, sdk.ModelGetParams{}, option.WithResponseInto(&answer))
	if err != nil {
		return unsaid(), ctx.Err() == nil && answer != nil && !passes(answer.StatusCode)
	}
	c := info.Capabilities
	if !c.JSON.StructuredOutputs.Valid() || !c.JSON.Effort.Valid() || !c.JSON.Thinking.Valid() {
		return unsaid(), true
	}
	return ability{
		keepToSchema: c.StructuredOutputs.Supported,
		thinkLess:    c.Effort.Supported && c.Effort.Low.Supported,
		thinkNot:     c.Thinking.Types.Disabled.Supported,
	}, true
}

// passes reports whether a status may be another one the next time: of who is busy, has a fault, or was asked with a bad key.
func passes(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}
