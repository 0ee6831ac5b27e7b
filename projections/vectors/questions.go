package vectors

import (
	"context"
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
	cfg   Config
	pause pause

	mu      sync.Mutex // guards the fields below
	seen    []question // the newest last
	asked   map[string]*asked
	cleared int // how often all was forgotten
	closed  bool

	running sync.WaitGroup // of what is asked; Add holds mu, so that none begins once it is closed
}

type question struct {
	text   string
	vector []float32
}

// asked is a question that the endpoint was asked.
type asked struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the fields below are set
	vector []float32
	err    error
}

func newQuestions(c Config) *questions {
	return &questions{cfg: c, pause: pause{backoff: policy.Backoff{First: 5 * time.Second, Cap: time.Minute}}, asked: map[string]*asked{}}
}

// ask has the endpoint asked for the vector of a text, or returns the request for it that is under way; nil if there are too many,
// or after close. It goes on when nobody waits for it any more.
func (q *questions) ask(text string) *asked {
	q.mu.Lock()
	defer q.mu.Unlock()
	if a := q.asked[text]; a != nil {
		return a
	}
	if q.closed || len(q.asked) == maxAsked {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &asked{cancel: cancel, done: make(chan struct{})}
	q.asked[text] = a
	cleared := q.cleared
	q.running.Go(func() {
		defer cancel()
		a.vector, a.err = q.fetch(ctx, text)
		q.answered(text, a, cleared)
	})
	return a
}

// fetch asks the endpoint. Of what goes wrong only that counts against it which is neither the text's fault nor the end of ours.
func (q *questions) fetch(ctx context.Context, text string) ([]float32, error) {
	vectors, err := q.cfg.embed(ctx, q.cfg.QueryPatience, "the endpoint gave no answer", []string{text})
	switch {
	case ctx.Err() != nil:
		return nil, ErrClosed
	case err != nil:
		if f := failureOf(err); !f.Texts {
			q.pause.failed(f)
		}
		return nil, err
	}
	q.pause.answered()
	return vectors[0], nil
}

// answered keeps what came, unless all was forgotten since it was asked for.
func (q *questions) answered(text string, a *asked, cleared int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.asked, text)
	if a.err == nil && cleared == q.cleared {
		q.put(text, a.vector)
	}
	close(a.done)
}

func (q *questions) get(text string) []float32 {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.seen, func(s question) bool { return s.text == text })
	if i < 0 {
		return nil
	}
	s := q.seen[i]
	q.seen = append(slices.Delete(q.seen, i, i+1), s)
	return s.vector
}

// put remembers a vector. The caller holds mu.
func (q *questions) put(text string, vector []float32) {
	if len(q.seen) == maxQuestions {
		q.seen = slices.Delete(q.seen, 0, 1)
	}
	q.seen = append(q.seen, question{text, vector})
}

// clear forgets all questions, those that are under way too.
func (q *questions) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen = nil
	q.cleared++
}

// close ends what is under way, and returns when it has ended. It may be called again.
func (q *questions) close() {
	q.mu.Lock()
	q.closed = true
	for _, a := range q.asked {
		a.cancel()
	}
	q.mu.Unlock()
	q.running.Wait()
}
