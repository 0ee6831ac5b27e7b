package vectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cmemd/cmemd/events"
)

// maxQuestions is how many questions' vectors are remembered: people ask again with another filter.
const maxQuestions = 64

// questions remembers the vectors of what was asked last. It is safe for concurrent use.
type questions struct {
	pause pause

	mu   sync.Mutex // guards the field below
	seen []question // the newest last
}

type question struct {
	text   string
	vector []float32
}

func newQuestions(c Config) *questions { return &questions{pause: pause{backoff: c.QueryPause}} }

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

func (q *questions) put(text string, vector []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.seen) == maxQuestions {
		q.seen = slices.Delete(q.seen, 0, 1)
	}
	q.seen = append(q.seen, question{text, vector})
}

func (q *questions) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen = nil
}

// Found is what is near to a question.
type Found struct {
	Hits []Hit  // nearest first; none where nothing could be asked
	Used bool   // the vectors were looked at
	Note string // what a person should know of the vectors that were not, or not all, looked at; empty: nothing
}

// Nearest returns the k rows nearest to text, of all or, where only is not nil, of those whose records are at its
// positions, which are in order. It never fails: what hinders it is in the note, and searching by words goes on without it. The endpoint is asked for as long as Config says, and not at
// all while it is left alone.
func (v *Vectors) Nearest(ctx context.Context, text string, only []events.Position, k int) Found {
	st := v.Stats()
	if st.Filled == 0 {
		return Found{Note: lacks(st)}
	}
	vector, err := v.question(ctx, text)
	if err != nil {
		return Found{Note: "vectors: not used: " + failureOf(err).Says}
	}
	hits, err := v.slab.nearest(vector, only, k)
	switch {
	case errors.Is(err, errSize):
		return Found{Note: fmt.Sprintf("vectors: not used: the question has %d dimensions, and the rows have %d", len(vector), st.Dimensions)}
	case err != nil:
		v.slab.doubt()
		v.cfg.Logger.Error("vectors cannot be read", "err", err)
		return Found{Note: "vectors: not used: their file cannot be read"}
	}
	return Found{Hits: hits, Used: true, Note: lacks(st)}
}

// lacks says how much of the vectors is filled; empty: all.
func lacks(st Stats) string {
	if st.Total == 0 || st.Filled+st.Refused == st.Total {
		return ""
	}
	note := fmt.Sprintf("vectors: %d %% filled", 100*(st.Filled+st.Refused)/st.Total)
	if st.Paused != "" {
		note += ": " + st.Paused
	}
	return note
}

// question returns the vector of what is asked, of length 1.
func (v *Vectors) question(ctx context.Context, text string) ([]float32, error) {
	text = v.clean(text)
	if vector := v.queries.get(text); vector != nil {
		return vector, nil
	}
	if line := v.queries.pause.line(v.cfg.Now()); line != "" {
		return nil, &Failure{Says: line}
	}
	asking, cancel := context.WithTimeout(ctx, v.cfg.QueryTimeout)
	defer cancel()
	vectors, err := v.cfg.Embedder.Embed(asking, []string{text})
	if err == nil {
		err = check(vectors, 1)
	}
	switch {
	case err == nil:
		v.queries.pause.answered()
		v.queries.put(text, vectors[0])
		return vectors[0], nil
	case ctx.Err() != nil: // whoever asked is gone
		return nil, ctx.Err()
	case asking.Err() != nil:
		err = &Failure{Says: fmt.Sprintf("the endpoint gave no answer within %s", v.cfg.QueryTimeout)}
	}
	if f := failureOf(err); !f.Texts {
		v.queries.pause.failed(f, v.cfg.Now())
	}
	return nil, err
}

// doubt has the file checked row by row when it is opened next.
func (s *slab) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damaged = true
}
