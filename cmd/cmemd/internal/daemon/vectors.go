package daemon

import (
	"context"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/internal/memory/recall"
	"github.com/cmemd/cmemd/internal/redact/full"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/vectors"
	"github.com/cmemd/cmemd/projections/vectors/embed"
)

// openVectors opens the vectors of a home; where none are set, those of earlier days go: nobody would forget in them.
func (d *daemon) openVectors(ctx context.Context) (err error) {
	e := d.config.Embeddings
	if e.Endpoint.URL == "" {
		return vectors.Remove(d.paths.Vectors)
	}
	at, err := d.config.Endpoint(config.EmbeddingsName)
	if err != nil {
		return err
	}
	d.embed, err = embed.New(embed.Config{Model: e.Model, Dimensions: e.Dimensions, Endpoint: at})
	if err != nil {
		return err
	}
	d.vectors, err = vectors.Open(ctx, d.paths.Vectors, d.union, vectors.Config{
		Embedder: d.embed, Model: e.VectorsOf(), Rows: d.views, Redact: full.New().TextOrAll, Batch: e.Batch, QueryTimeout: e.Timeout,
		Floor: e.Deviation(),
		Pause: d.config.Pause, Logger: d.logger,
	})
	return err
}

// vectorsFile is the vectors as a file that words are taken out of; none where there are no vectors.
func (d *daemon) vectorsFile() []erasure.Files {
	if d.vectors == nil {
		return nil
	}
	follows := func() error {
		if t := d.vectors.Trouble(); t != nil {
			return fmt.Errorf("%w: %w", engine.ErrStopped, t.Err)
		}
		return nil
	}
	return []erasure.Files{{
		Name: "vectors",
		Purge: func(ctx context.Context, upTo events.Position) error {
			if err := follows(); err != nil {
				return err
			}
			return d.vectors.Purge(ctx, upTo)
		},
		Forget: func(ctx context.Context, at ...events.Position) error {
			if err := follows(); err != nil {
				return err
			}
			return d.vectors.Forget(ctx, at...)
		},
	}}
}

// recallConfig is what answers questions over the daemon's views.
func (d *daemon) recallConfig() recall.Config {
	c := recall.Config{
		Views: d.views, Index: d.index, Log: d.union, LogsOf: d.logsOf, Settled: d.sharing.Settled(),
		Fence:      strings.Trim(agents.ContextOpen, "<>"),
		Characters: d.config.ContextChars, Tokens: d.config.ContextTokens, Recency: d.config.Recency(),
		NoPreferences: d.config.Preferences != config.On,
	}
	if d.vectors != nil {
		c.Semantic = d.vectors
	}
	return c
}
