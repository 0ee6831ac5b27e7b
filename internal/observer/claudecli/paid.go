package claudecli

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// spending is what a child has used so far. The stream tells of each message what it took, and the result of them all; both
// leave things out: a child that is ended has no result, one whose stream broke off counts that message as nothing, and a
// newer one (2.1.329) forgets the messages before a retry.
type spending struct {
	earlier   events.Usage // of the messages before the one that is under way
	message   events.Usage // of that one
	retried   int          // requests that the client asked once more for
	answering bool         // the request behind them is answered, at least in part
}

// beginMessage enters that a message has begun.
func (s *spending) beginMessage() {
	s.earlier, s.message, s.answering = s.total(), events.Usage{}, true
}

// countMessage enters what the stream says of the message. It says sums, and not all of them each time.
func (s *spending) countMessage(t anthropic.Tokens) { s.message = model.Most(s.message, t.Usage()) }

// beginRetry enters that the client gives a request up and makes another one.
func (s *spending) beginRetry() {
	s.retried++
	s.answering = false
}

func (s *spending) total() events.Usage { return model.Plus(s.earlier, s.message) }
