package anthropic

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/cmemd/cmemd/internal/observer/model"
)

// ability is what a model takes of what not all of them take.
type ability struct {
	keepToSchema bool // an answer held to a schema (output_config.format)
	thinkLess    bool // an effort
	thinkNot     bool // to be told not to think
}

// assumed is what is supposed of models of which the service does not tell: what most of them take, and other services that
// speak this API pass over.
func assumed() ability { return ability{keepToSchema: true, thinkNot: true} }

// lookupTime is how long the service may take to say what the model can, before a question, which is asked all the same.
const lookupTime = 5 * time.Second

// abilities finds out, once, what a model can. It is safe for concurrent use.
type abilities struct {
	mu    sync.Mutex // guards the field below
	known *ability   // nil: not yet
}

// of is what the client's model can. A service that could not be asked is asked again before the next question.
func (a *abilities) of(ctx context.Context, c *model.Client) ability {
	a.mu.Lock()
	known := a.known
	a.mu.Unlock()
	if known != nil {
		return *known
	}
	can, lasts := lookUp(ctx, c)
	if lasts {
		a.mu.Lock()
		a.known = &can
		a.mu.Unlock()
	}
	return can
}

// supported is how the service says of a thing whether a model can do it.
type supported struct {
	Supported bool `json:"supported"`
}

// lookUp asks the service what the model can. It reports whether it will say the same again: it did say, or what answered is
// a service that knows no such question.
func lookUp(ctx context.Context, c *model.Client) (can ability, final bool) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	var info struct {
		Can struct {
			Structured *supported `json:"structured_outputs"`
			Effort     *struct {
				supported
				Low supported `json:"low"`
			} `json:"effort"`
			Thinking *struct {
				Types struct {
					Disabled supported `json:"disabled"`
				} `json:"types"`
			} `json:"thinking"`
		} `json:"capabilities"`
	}
	r := c.Get(ctx, "v1/models/"+c.Model())
	if !r.JSON(&info) {
		return assumed(), ctx.Err() == nil && r.Status != 0 && !passes(r.Status)
	}
	s, e, t := info.Can.Structured, info.Can.Effort, info.Can.Thinking
	if s == nil || e == nil || t == nil {
		return assumed(), true
	}
	return ability{keepToSchema: s.Supported, thinkLess: e.Supported && e.Low.Supported, thinkNot: t.Types.Disabled.Supported}, true
}

// passes reports whether a status may be another one the next time: of who is busy, has a fault, or was asked with a bad key.
func passes(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}
