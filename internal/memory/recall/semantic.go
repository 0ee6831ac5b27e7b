package recall

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/index"
)

// semanticRows is how many rows are looked for by what they mean: behind them there are only more that are not near.
const semanticRows = 100

// semanticHits are what was found by what it means.
type semanticHits struct {
	hits []hit
	used bool   // the vectors were looked at
	note string // what a person should know of the vectors; empty: nothing
}

// semantic returns the live rows nearest to q. It finds nothing where q does not want it, has no text or another order, or
// there are no vectors.
func (r *Recall) semantic(ctx context.Context, q Query, iq index.Query, then moment) (semanticHits, error) {
	if r.cfg.Semantic == nil || !q.Near || q.Text == "" || iq.Sort != index.Relevance {
		return semanticHits{}, nil
	}
	only, err := r.cfg.Index.Matching(ctx, iq)
	if err != nil {
		return semanticHits{}, fmt.Errorf("recall: %w", err)
	}
	found := r.cfg.Semantic.Nearest(ctx, q.Text, only, semanticRows)
	if err := ctx.Err(); err != nil {
		return semanticHits{}, fmt.Errorf("recall: %w", err)
	}
	list := make([]index.Hit, len(found.Hits))
	for i, h := range found.Hits {
		list[i] = index.Hit{ID: h.ID, Score: h.Score}
	}
	hits, err := r.standing(ctx, list, then)
	return semanticHits{hits: hits, used: found.Used, note: found.Note}, err
}

// standing reads the rows of hits and keeps those that answers show, each once.
func (r *Recall) standing(ctx context.Context, found []index.Hit, then moment) ([]hit, error) {
	rows, err := r.rowsOf(ctx, found, then)
	if err != nil {
		return nil, err
	}
	seen, hits := make(map[events.ID]bool, len(rows)), make([]hit, 0, len(rows))
	for i := range rows {
		row := &rows[i]
		if row.Listed() && !seen[row.ID] {
			seen[row.ID] = true
			hits = append(hits, hit{row: row, score: found[i].Score})
		}
	}
	return hits, nil
}
