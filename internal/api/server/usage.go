package server

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/health"
	"github.com/cmemd/cmemd/projections/usage"
)

// usages answers what turns cost.
type usages struct {
	*sources
	prices prices
	now    func() time.Time
}

func (s *usages) routes(to *dispatcher) []endpoint {
	return []endpoint{bind(to, api.UsageRoute, s.getUsage), bind(to, api.GainRoute, s.getGain), bind(to, api.LossesRoute, s.getLosses)}
}

// getUsage says what turns cost.
func (s *usages) getUsage(ctx context.Context, q api.UsageQuery) (api.Usage, error) {
	f := usage.Filter{By: q.By, Since: q.Since, Until: q.Until, Zone: s.zone(q.UTC)}
	out := api.Usage{Position: s.Views.Position(), By: q.By, Since: q.Since, Until: q.Until, Zone: f.Zone.String()}
	of, err := s.narrow(ctx, "", q.Session, q.Project)
	if err != nil {
		return out, err
	}
	f.Session, f.Among = of.Session, of.Among
	groups, err := s.Views.Usage(ctx, f)
	s.prices.fill(&out, groups, q.Limit)
	return out, err
}

// zone is where the days of the person who runs the daemon begin.
func (s *usages) zone(utc bool) *time.Location {
	if utc {
		return time.UTC
	}
	return s.now().Location()
}

// lossesSpan is how far back losses are listed where no other time is asked for.
const lossesSpan = 30 * 24 * time.Hour

// getLosses adds up by day what the view of health knows by the hour.
func (s *usages) getLosses(ctx context.Context, q api.LossesQuery) (api.Losses, error) {
	if q.Since.IsZero() {
		q.Since = s.now().Add(-lossesSpan)
	}
	out := api.Losses{Position: s.Views.Position(), Since: q.Since, Days: []api.LossDay{}}
	h, err := s.Views.Health(ctx, q.Since, q.Until)
	for _, hour := range h.Hours {
		out.Days = addLosses(out.Days, hour.Hour.In(s.zone(false)), hour.Count)
	}
	return out, err
}

// addLosses adds the counts of an hour to days, of which its own is the last or a new one.
func addLosses(days []api.LossDay, hour time.Time, c health.Count) []api.LossDay {
	if len(days) == 0 || !hour.Before(days[len(days)-1].Ends) {
		begins, ends := policy.Day(hour)
		days = append(days, api.LossDay{Begins: begins.UTC(), Ends: ends.UTC(), Dropped: map[string]int64{}, Failures: map[string]int64{}})
	}
	d := &days[len(days)-1]
	d.Turns += c.Turns
	for key, n := range c.Dropped {
		d.Dropped[key] += n
	}
	for class, n := range c.Failures {
		d.Failures[class] += n
	}
	return days
}

// today is what the turns cost that ended since the last local midnight.
func (s *usages) today(ctx context.Context) (api.Today, error) {
	from, _ := policy.Day(s.now())
	groups, err := s.Views.Usage(ctx, usage.Filter{Since: from, By: api.UsageByModel})
	return api.Today{Since: from, Spent: s.prices.price(sumModels(groups))}, err
}

// prices say what tokens cost.
type prices usage.Price

// fill prices groups, and shows the first of them.
func (p prices) fill(out *api.Usage, groups []usage.Group, limit int) {
	out.Rows = make([]api.UsageRow, 0, len(groups))
	for _, g := range groups {
		out.Rows = append(out.Rows, api.UsageRow{Key: g.Key, Spent: p.price(g.Models)})
	}
	models := sumModels(groups)
	out.Total, out.Unpriced = p.price(models), []api.ModelTokens{}
	for _, m := range models {
		out.Unpriced = addUnpriced(out.Unpriced, m, m.Money(usage.Price(p)).Unpriced)
	}
	sortUsage(out.By, out.Rows)
	if len(out.Rows) > limit {
		out.Omitted, out.Rows = len(out.Rows)-limit, out.Rows[:limit]
	}
}

// addUnpriced adds tokens of m, whose neighbour of the same name, if any, was the last to be added.
func addUnpriced(all []api.ModelTokens, m usage.Model, tokens int64) []api.ModelTokens {
	n := len(all) - 1
	switch {
	case tokens == 0:
		return all
	case n >= 0 && all[n].Provider == m.Provider && all[n].Model == m.Model:
		all[n].Tokens += tokens
		return all
	}
	return append(all, api.ModelTokens{Provider: m.Provider, Model: m.Model, Tokens: tokens})
}

// sumModels adds the models of all groups up, each once, in order.
func sumModels(groups []usage.Group) []usage.Model {
	var models []usage.Model
	for _, g := range groups {
		for _, m := range g.Models {
			i, found := slices.BinarySearchFunc(models, m, usage.Model.Compare)
			if !found {
				models = slices.Insert(models, i, usage.Model{Provider: m.Provider, Model: m.Model, Asked: m.Asked})
			}
			models[i].Add(m.Count, 1)
		}
	}
	return models
}

// sortUsage puts first what a person looks for: the latest day, what cost most. Outcomes stay in their own order.
func sortUsage(by api.UsageBy, rows []api.UsageRow) {
	switch by {
	case api.UsageByDay:
		slices.Reverse(rows)
	case api.UsageBySession, api.UsageByModel, api.UsageByProvider:
		order.By(rows, func(a, b api.UsageRow) int {
			return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.Tokens(), a.Tokens()), cmp.Compare(b.Turns, a.Turns))
		})
	}
}

// price adds models up, and says what that is in money as far as it is known.
func (p prices) price(models []usage.Model) api.Spent {
	var out api.Spent
	var stated, listed float64
	for _, m := range models {
		out.Add(m.Count, 1)
		money := m.Money(usage.Price(p))
		stated, listed = stated+money.Stated, listed+money.Listed
		out.UnpricedTokens += money.Unpriced
	}
	out.USD, out.EstimatedUSD = stated+listed, listed
	return out
}

// costOf is what a turn cost, as its provider states and by the list of prices; nil: not known.
func (p prices) costOf(t api.Turn) *float64 {
	b := t.Bill()
	open := b.UncostedUsage()
	if open == (events.Usage{}) {
		if !b.Stated() {
			return nil
		}
		return &b.Cost
	}
	usd, ok := usage.Price(p).Of(t.Provider, cmp.Or(b.Model, t.Model), t.Model, open)
	if !ok {
		return nil
	}
	usd += b.Cost
	return &usd
}
