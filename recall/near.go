package recall

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/vectors"
)

// Nearby finds rows by what they mean. A *vectors.Vectors is one; see there for what it promises.
type Nearby interface {
	Nearest(ctx context.Context, text string, only []events.Position, k int) vectors.Found
}

// nearRows is how many rows are looked for by what they mean: behind them there are only more that are not near.
const nearRows = 100

// Ranks says where a row stands in each of the lists that an answer was made of, from 1; 0: not in it.
type Ranks struct {
	Words   int `json:"words"`
	Vectors int `json:"vectors"`
}

// meant is what was found by what it means.
type meant struct {
	hits []hit
	used bool   // the vectors were looked at
	note string // what a person should know of the vectors; empty: nothing
}

// near returns the live rows nearest to q. It finds nothing where q does not want it, has no text or another order, or there
// are no vectors.
func (r *Recall) near(ctx context.Context, q Query, iq index.Query) (meant, error) {
	if r.nearby == nil || !q.Near || q.Text == "" || iq.Sort != index.Relevance {
		return meant{}, nil
	}
	only, err := r.index.Passing(ctx, iq)
	if err != nil {
		return meant{}, fmt.Errorf("recall: %w", err)
	}
	found := r.nearby.Nearest(ctx, q.Text, only, nearRows)
	if err := ctx.Err(); err != nil {
		return meant{}, fmt.Errorf("recall: %w", err)
	}
	list := make([]index.Hit, len(found.Hits))
	for i, h := range found.Hits {
		list[i] = index.Hit{ID: h.ID, Score: h.Score}
	}
	hits, err := r.live(ctx, Query{AsOf: q.AsOf}, list) // without its text, whose phrases would change the order
	return meant{hits: hits, used: found.Used, note: found.Note}, err
}

// with brings what was found by words and m into one order. Scores are those of the fusion, so that the first of both lists
// has 1. more is how many rows only m has.
func (m meant) with(words []hit) (all []hit, more int) {
	if !m.used {
		return words, 0
	}
	rows := make(map[events.ID]*hit, len(words)+len(m.hits))
	folded := map[events.ID]bool{} // stood for by another
	for i := range words {
		h := &words[i]
		h.ranks = &Ranks{Words: i + 1}
		rows[h.row.ID] = h
		for _, id := range h.similar {
			folded[id] = true
		}
	}
	var near []events.ID
	for i := range m.hits {
		h := &m.hits[i]
		id := h.row.ID
		if folded[id] {
			continue
		}
		if rows[id] == nil {
			h.ranks, rows[id] = &Ranks{}, h
			more++
		}
		near = append(near, id)
		rows[id].ranks.Vectors = len(near)
	}
	for _, f := range Fuse(Ranking{IDs: rowIDs(words)}, Ranking{IDs: near}) {
		h := *rows[f.ID]
		h.score = f.Score * (fuseRank + 1) / 2
		all = append(all, h)
	}
	return all, more
}

func rowIDs(hits []hit) []events.ID {
	ids := make([]events.ID, len(hits))
	for i, h := range hits {
		ids[i] = h.row.ID
	}
	return ids
}
