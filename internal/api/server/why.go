package server

import (
	"context"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/recall"
)

// chains answers where rows come from.
type chains struct {
	*sources
	prices prices
}

func (s *chains) routes(to *dispatcher) []endpoint {
	return []endpoint{bind(to, api.WhyRoute, s.getWhy)}
}

func (s *chains) getWhy(ctx context.Context, q api.WhyQuery) (api.Why, error) {
	at, known, err := s.asOf(ctx, q.AsOf)
	if err != nil {
		return api.Why{}, err
	}
	if !known {
		return api.Why{}, notFound("nothing had been recorded yet")
	}
	found, err := s.Recall.Why(ctx, recall.WhyQuery{ID: q.ID, AsOf: at})
	if err != nil {
		return api.Why{}, err
	}
	if err := s.mayReachRow(ctx, found.Row); err != nil {
		return api.Why{}, err
	}
	for i, t := range found.Turns {
		found.Turns[i].CostUSD = s.prices.costOf(t.Turn)
	}
	for i, a := range found.Attempts {
		found.Attempts[i].CostUSD = s.prices.costOf(a.Turn)
	}
	return found, nil
}
