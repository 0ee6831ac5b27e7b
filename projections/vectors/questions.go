package vectors

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
)

const (
	// maxQuestions is how many questions' vectors are remembered: people ask again with another filter.
	maxQuestions = 64

	// maxAsked is how many questions are put to the endpoint at once: one that hangs is not asked by everybody.
	maxAsked = 4
)

// questions asks the endpoint, and remembers the vectors of what was asked last. They are of one model, as Vectors are. It is
// safe for concurrent use.
type questions struct {
	pause  pause
	embed  func(text string) ([]float32, error) // ErrClosed after cancel
	cancel context.CancelFunc

	mu     sync.Mutex // guards the fields below
	asked  []*asked   // that are under way or were answered, the newest last
	flying int        // that are under way, forgotten ones too
	number int        // of the question that was put to the endpoint last
	newest int        // the number of the newest question that was answered
	closed bool

	running sync.WaitGroup // of what is under way; Go is called with mu held, so that nothing begins once it is closed
}

// asked is a question that the endpoint was asked.
type asked struct {
	number int // questions are numbered from 1, in the order in which they are put
	text   string
	done   chan struct{} // closed when the fields below are set
	vector []float32
	err    error
}

func newQuestions(c Config) *questions {
	ctx, cancel := context.WithCancel(context.Background())
	q := &questions{pause: pause{backoff: policy.Backoff{First: 5 * time.Second, Cap: time.Minute}}, cancel: cancel}
	q.embed = func(text string) ([]float32, error) {
		vectors, err := c.embed(ctx, c.QueryPatience, "the endpoint gave no answer", []string{text})
		if ctx.Err() != nil {
			return nil, ErrClosed
		}
		if err != nil {
			return nil, failureOf(err)
		}
		return vectors[0], nil
	}
	return q
}

// ask returns what the endpoint was asked for the vector of a text, or asks it. That goes on when nobody waits for it any more. The
// error is a *Failure: it is left alone, or asked too much already.
func (q *questions) ask(text string) (*asked, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.IndexFunc(q.asked, func(a *asked) bool { return a.text == text }); i >= 0 {
		a := q.asked[i]
		q.asked = append(slices.Delete(q.asked, i, i+1), a)
		return a, nil
	}
	if line := q.pause.line(); line != "" {
		return nil, &Failure{Says: line}
	}
	if q.closed || q.flying == maxAsked {
		return nil, &Failure{Says: fmt.Sprintf("the endpoint has not answered %d other questions yet", maxAsked)}
	}
	q.number++
	a := &asked{number: q.number, text: text, done: make(chan struct{})}
	q.asked = append(q.asked[max(0, len(q.asked)-maxQuestions+1):], a)
	q.flying++
	q.running.Go(func() {
		a.vector, a.err = q.embed(text)
		q.answered(a)
	})
	return a, nil
}

// answered forgets a question without an answer. Of what goes wrong only that counts against the endpoint which is neither the
// text's fault nor the end of ours, and which no answer to a later question has overtaken.
func (q *questions) answered(a *asked) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flying--
	if a.err != nil {
		q.asked = slices.DeleteFunc(q.asked, func(other *asked) bool { return other == a })
	}
	if f, ok := a.err.(*Failure); ok && !f.BlamesTexts && a.number > q.newest {
		q.pause.failed(f)
	} else if a.err == nil {
		q.newest = max(q.newest, a.number)
		q.pause.answered()
	}
	close(a.done)
}

// clear forgets all questions, those that are under way too.
func (q *questions) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = nil
}

// close ends what is under way, and returns when it has ended. It may be called again.
func (q *questions) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.cancel()
	q.running.Wait()
}
