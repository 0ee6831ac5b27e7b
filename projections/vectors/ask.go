package vectors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Found is what is near to a question.
type Found struct {
	Hits []Hit  // nearest first; none where nothing could be asked
	Used bool   // the vectors were looked at
	Note string // what a person should know of the vectors that were not, or not all, looked at; empty: nothing
}

// Nearest returns at most k rows that are near to text, nearest first, of all or, where only is not nil, of those whose records
// are at its positions, which are in order. A row is near if it stands out from those that were looked at: see Config.Floor. It
// never fails: what hinders it is in the note, and searching by words goes on without it. The endpoint is waited for as long as
// Config says; an answer that comes later is there for whoever asks the same again. While it is left alone it is not asked.
func (v *Vectors) Nearest(ctx context.Context, text string, only []events.Position, k int) Found {
	st := v.Stats()
	if st.Filled == 0 {
		return Found{Note: lacks(st)}
	}
	vector, err := v.question(ctx, text)
	if err != nil {
		return Found{Note: "vectors: not used: " + failureOf(err).Says}
	}
	hits, all, err := v.store.nearest(vector, only, k)
	switch {
	case errors.Is(err, errSize):
		v.queries.clear() // it may be the question that is of a model before
		return Found{Note: fmt.Sprintf("vectors: not used: the question has %d dimensions, and the rows have %d", len(vector), st.Dimensions)}
	case err != nil:
		v.cfg.Logger.Error("vectors cannot be read", "err", err)
		v.beginAgain(errDoubted)
		return Found{Note: "vectors: not used: their file cannot be read"}
	}
	return Found{Hits: all.above(v.cfg.Floor, hits), Used: true, Note: lacks(st)}
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
	asked, err := v.queries.ask(v.redactedText(text))
	if err != nil {
		return nil, err
	}
	wait := time.NewTimer(v.cfg.QueryTimeout)
	defer wait.Stop()
	select {
	case <-asked.done:
		return asked.vector, asked.err
	case <-ctx.Done(): // whoever asked is gone
		return nil, ctx.Err()
	case <-wait.C:
		return nil, &Failure{Says: fmt.Sprintf("the endpoint gave no answer within %s; the same question may have it soon", v.cfg.QueryTimeout)}
	}
}
