package vectors

import (
	"context"
	"fmt"
	"time"
)

// embed asks the endpoint for the vectors of texts, of one size and of length 1. The error is ctx's or a *Failure, which says silent
// where nothing came in time.
func (c Config) embed(ctx context.Context, timeout time.Duration, timeoutText string, texts []string) ([][]float32, error) {
	asking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	vectors, err := c.Embedder.Embed(asking, texts)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case asking.Err() != nil && err != nil:
		return nil, &Failure{Says: fmt.Sprintf("%s within %s", timeoutText, timeout), Retryable: true}
	case err != nil:
		return nil, failureOf(err)
	}
	return vectors, check(vectors, len(texts))
}

// check reports whether an answer is n vectors of one size, and makes them of length 1.
func check(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return &Failure{Says: fmt.Sprintf("it sent %d vectors for %d texts", len(vectors), n)}
	}
	for _, x := range vectors {
		switch {
		case len(x) == 0 || len(x) > maxDims:
			return &Failure{Says: fmt.Sprintf("it sent a vector of %d dimensions", len(x))}
		case len(x) != len(vectors[0]):
			return &Failure{Says: fmt.Sprintf("it sent vectors of %d and %d dimensions", len(vectors[0]), len(x))}
		case !unit(x):
			return &Failure{Says: "it sent a vector that is zero, or no number"}
		}
	}
	return nil
}
