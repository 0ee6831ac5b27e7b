package claudecli

import (
	"errors"
	"math"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// tokens are what a message, or all of a child, was paid with, as the service counts them.
type tokens struct {
	Input   int64 `json:"input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

// maxTokens is more than a child can use. It keeps sums in range, whatever is said.
const maxTokens = 1 << 40

// usage is t as it is recorded: what was read from the cache, and written to it, is input too.
func (t tokens) usage() events.Usage {
	sane := func(n int64) int64 { return min(max(0, n), maxTokens) }
	return events.Usage{Input: sane(t.Input) + sane(t.Created) + sane(t.Read), Cached: sane(t.Read), Output: sane(t.Output)}
}

// spending is what a child has used so far. The stream tells of each message what it took, and the result of them all; both
// leave things out: a child that is ended has no result, one whose stream broke off counts that message as nothing, and a
// newer one (2.1.329) forgets the messages before a retry.
type spending struct {
	done    events.Usage // of the messages before the one that is under way
	message events.Usage // of that one
	failed  int          // requests that the client asked once more for
	open    bool         // the request behind them is answered, at least in part
}

// begins enters that a message has begun.
func (s *spending) begins() {
	s.done, s.message, s.open = s.all(), events.Usage{}, true
}

// counts enters what the stream says of the message. It says sums, and not all of them each time.
func (s *spending) counts(t tokens) { s.message = most(s.message, t.usage()) }

// retries enters that the client gives a request up and makes another one.
func (s *spending) retries() {
	s.failed++
	s.open = false
}

func (s *spending) all() events.Usage {
	return events.Usage{
		Input: s.done.Input + s.message.Input, Cached: s.done.Cached + s.message.Cached, Output: s.done.Output + s.message.Output,
	}
}

// most is the greater of each figure.
func most(a, b events.Usage) events.Usage {
	return events.Usage{Input: max(a.Input, b.Input), Cached: max(a.Cached, b.Cached), Output: max(a.Output, b.Output)}
}

// paid is what the child has used, in a Reply that holds nothing else.
func (a *answer) paid() observer.Reply {
	r := observer.Reply{Bill: events.Bill{Usage: a.spent.all(), Calls: a.calls(), Model: a.last.model}}
	if a.result == nil {
		return r
	}
	r.Usage = most(r.Usage, a.result.Usage.usage())
	if cost := a.result.Cost; cost > 0 && !math.IsInf(cost, 0) {
		r.Cost = cost // of all messages, also of those that its own usage leaves out
	}
	return r
}

// calls is how many requests the child has sent. One that is logged out ends without any; one that has begun and was ended
// by others had one under way.
func (a *answer) calls() int {
	n := a.spent.failed
	switch {
	case a.spent.open:
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
