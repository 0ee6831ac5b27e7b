package claudecli

import (
	"github.com/cmemd/cmemd/events"
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
