package claudecli

import (
	"errors"
	"fmt"
	"math"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// outcome is what became of the turn, now that the child has ended, and what was paid.
func (a *answer) outcome(e ending) (observer.Reply, error) { return a.pay(a.verdictOf(e)) }

func (a *answer) verdictOf(e ending) (observer.Reply, error) {
	switch r := a.result; {
	case a.verdict != nil:
		return observer.Reply{}, a.verdict
	case r == nil && a.understood == 0 && !e.signaled:
		return observer.Reply{}, setupFailure(fmt.Sprintf(
			"the client ended with status %d and said nothing: it is too old for the arguments it is given, or no Claude Code", e.code), nil)
	case r == nil && e.signaled:
		return observer.Reply{}, &observer.Crash{Message: "the client was killed before its result"}
	case r == nil:
		return observer.Reply{}, &observer.Crash{Message: fmt.Sprintf("the client ended with status %d before its result", e.code)}
	case r.IsError:
		return observer.Reply{}, a.failure(classOf(a.problem, r.Status, *r, a.last.id != ""), r.Status, "")
	case a.last.whole():
		return a.reply(), nil
	case a.last.id != "":
		return observer.Reply{}, a.failure(events.FailTransport, 0, cutMessage)
	}
	return observer.Reply{}, a.failure(events.FailUnknown, 0, "the client answered without asking a model")
}

func (a *answer) reply() observer.Reply {
	return observer.Reply{Text: events.NewOutput(a.last.text.String()), Form: events.FormXML, StopReason: a.last.stop}
}

// paid is what the child has used, in a Reply that holds nothing else.
func (a *answer) paid() observer.Reply {
	r := observer.Reply{Bill: events.Bill{Usage: a.spent.total(), Calls: a.calls(), Model: a.last.model}}
	if a.result == nil {
		return r
	}
	r.Usage = model.Most(r.Usage, a.result.Usage.Usage())
	if cost := a.result.Cost; cost > 0 && !math.IsInf(cost, 0) {
		r.Cost = cost // of all messages, also of those that its own usage leaves out
	}
	return r
}

// calls is how many requests the child has sent. One that is logged out ends without any; one that has begun and was ended
// by others had one under way.
func (a *answer) calls() int {
	n := a.spent.retried
	switch {
	case a.spent.answering:
		n++
	case a.result != nil && (n > 0 || a.result.Status != 0):
		n++
	case a.result == nil && a.verdict == nil && a.understood > 0:
		n++
	}
	return n
}

// pay enters in an outcome what the child has used.
func (a *answer) pay(r observer.Reply, err error) (observer.Reply, error) {
	paid := a.paid()
	if f, ok := errors.AsType[*observer.Failure](err); ok {
		failed := *f
		failed.Bill = paid.Bill
		return r, &failed
	}
	r.Bill = paid.Bill
	return r, err
}
