package doctor

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/vectors"
)

// checkVectors tells how far vectors are; deep asks one real question through them.
func checkVectors(ctx context.Context, x *examination) []finding {
	switch {
	case x.status == nil && x.config != nil && x.config.Embeddings.Endpoint.URL == "":
		return []finding{healthy("off: `embeddings_url` is not set")}
	case x.status == nil:
		return needsDaemon()
	case x.status.Vectors == nil:
		return []finding{healthy("off: `embeddings_url` is not set")}
	}
	st := x.status.Vectors
	switch {
	case st.Stopped != "":
		return []finding{faulty("`cmemd logs` says more; `cmemd restart` begins anew", "%s", vectorsLine(st))}
	case st.Paused != "":
		return []finding{note("look after the endpoint that embeddings_url names; it is asked again by itself", "%s", vectorsLine(st))}
	case !x.deep:
		return []finding{healthy("%s", vectorsLine(st))}
	}
	return []finding{x.askVectors(ctx, st)}
}

// askVectors asks one question of the daemon that words and vectors answer.
func (x *examination) askVectors(ctx context.Context, st *vectors.Stats) finding {
	var found api.SearchResults
	began := time.Now()
	err := x.app.Query(ctx, func(ctx context.Context, client api.Invoker) (err error) {
		found, err = api.SearchRoute.Call(ctx, client, api.SearchQuery{Text: "what was decided last", Limit: 1})
		return err
	})
	took := time.Since(began).Round(time.Millisecond)
	switch {
	case err != nil:
		return faulty("`cmemd logs` says more", "a search fails: %s", terminal.Describe(err))
	case st.Filled == 0:
		return healthy("%s; there is nothing to find yet", vectorsLine(st))
	case !found.Near:
		return faulty("look after the endpoint that embeddings_url names, or raise embeddings_timeout", "a search went without them: %s", found.Note)
	}
	return healthy("%s; a search used them, in %s", vectorsLine(st), took)
}
