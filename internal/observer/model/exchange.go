package model

import (
	"context"
	"errors"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Exchange is one question as a service is asked it.
type Exchange struct {
	Path  string // below the base of the API
	Asked any    // the request, as JSON
	// Read says what an answer comes to: all of it, or as much as came. It must not keep body.
	Read func(body []byte) Answer
	// Again reports whether the service refused parameters that are left out from now on; nil: it never does.
	Again func(refused []string) bool
}

// Answer is an answer of a service in the terms of all services.
type Answer struct {
	observer.Reply                     // what was said and paid, as far as it came
	Whole          bool                // nothing is missing; else Error or the connection says why
	Error          []byte              // what stands in the place of an answer, as JSON; nil: nothing does
	Class          events.FailureClass // of a whole answer that is none after all; empty: it is one
	Reason         string              // the service's word for that
}

// Ask makes an exchange about q and returns what Asker.Ask returns.
func (c *Client) Ask(ctx context.Context, q Question, x Exchange) (observer.Reply, error) {
	r := c.Post(ctx, x.Path, x.Asked)
	a := x.Read(r.Body)
	switch {
	case a.Error != nil && ctx.Err() == nil:
		return r.outcome(a.Reply, r.Refused(a.Error))
	case !a.Whole:
		err := r.failed(ctx, q.Form == events.FormStructured)
		_, typed := errors.AsType[*observer.Failure](err)
		if x.Again != nil && x.Again(r.objections()) && typed {
			return r.outcome(observer.Reply{}, ErrAgain)
		}
		return r.outcome(a.Reply, err)
	case a.Class != "":
		return r.outcome(a.Reply, &observer.Failure{Class: a.Class, Message: a.Reason})
	}
	return r.outcome(a.Reply, nil)
}

// outcome puts the figures and the text of said, as far as it came, where they belong beside err, and counts the request. A
// failure in err is altered.
func (r *Response) outcome(said observer.Reply, err error) (observer.Reply, error) {
	said.Calls = r.sent
	if f, ok := errors.AsType[*observer.Failure](err); ok {
		f.Output, f.Bill = said.Text, said.Bill
		return observer.Reply{}, err
	}
	if err != nil {
		said.Text, said.StopReason = events.Output{}, ""
	}
	return said, err
}
