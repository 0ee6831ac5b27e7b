package server

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/gain"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/projections/usage"
)

// getGain says what was injected, what was followed, and what it cost.
func (s *usages) getGain(ctx context.Context, q api.GainQuery) (api.Gain, error) {
	out := api.Gain{Position: s.Views.Position(), Since: q.Since, Until: q.Until}
	inSessions, err := s.sessionsOf(ctx, sessions.Filter{Limit: scannedSessions}, q.Project)
	if err != nil {
		return out, err
	}
	injected, err := s.Views.InjectedInto(ctx, inSessions, gain.Filter{Since: q.Since, Until: q.Until})
	if err != nil {
		return out, err
	}
	groups, err := s.Views.Usage(ctx, usage.Filter{Since: q.Since, Until: q.Until, By: api.UsageBySession})
	if err != nil {
		return out, err
	}
	out.Projects = s.prices.gainByProject(injected, inSessions, groups)
	if out.Rows, err = s.injectedRows(ctx, injected); len(out.Rows) > q.Limit {
		out.Omitted, out.Rows = len(out.Rows)-q.Limit, out.Rows[:q.Limit]
	}
	return out, err
}

// gainByProject adds up what was injected by project, and what all of a project's sessions cost.
func (p prices) gainByProject(injected []gain.Injected, inSessions []api.Session, groups []usage.Group) []api.ProjectGain {
	type place struct{ root, name string }
	all, cost := map[place]*api.ProjectGain{}, map[place][]usage.Group{}
	for _, t := range injected {
		at := place{t.Session.ProjectRoot, t.Session.Project}
		if all[at] == nil {
			all[at] = &api.ProjectGain{Project: at.name, ProjectRoot: at.root}
		}
		add(all[at], t)
	}
	home := make(map[events.SessionID]place, len(inSessions))
	for _, one := range inSessions {
		home[one.ID] = place{one.ProjectRoot, one.Project}
	}
	for _, g := range groups {
		if at, ok := home[g.Session]; ok {
			cost[at] = append(cost[at], g)
		}
	}
	out := make([]api.ProjectGain, 0, len(all))
	for at, g := range all {
		g.Observer = p.price(sumModels(cost[at]))
		out = append(out, *g)
	}
	order.By(out, func(a, b api.ProjectGain) int {
		return cmp.Or(cmp.Compare(b.Injected, a.Injected), cmp.Compare(a.Project, b.Project), cmp.Compare(a.ProjectRoot, b.ProjectRoot))
	})
	return out
}

func add(g *api.ProjectGain, t gain.Injected) {
	g.Sessions, g.Injections, g.Characters = g.Sessions+1, g.Injections+t.Injections, g.Characters+t.Characters
	g.Tokens = g.Characters / number.CharactersPerToken
	for _, r := range t.Rows {
		g.Injected++
		if r.Files > 0 {
			g.WithFiles++
		}
		if len(r.Touched) > 0 {
			g.Touched++
		}
		if r.Asked {
			g.Asked++
		}
		if r.Followed() {
			g.Followed++
		}
	}
}

// injectedRows are the rows that were injected, by how many sessions followed them, then by how many they were injected.
func (s *usages) injectedRows(ctx context.Context, injected []gain.Injected) ([]api.InjectedRow, error) {
	all := byRow(injected)
	ids := slices.Collect(maps.Keys(all))
	found, err := s.Views.Rows(ctx, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]api.InjectedRow, 0, len(ids))
	for i, row := range found {
		one := *all[ids[i]]
		one.Handle, one.Kind, one.Type, one.Project, one.ProjectRoot = row.Handle(), row.Kind, row.Type, row.Project, row.ProjectRoot
		one.Title = cmp.Or(row.Title, row.Request, row.Text, row.Narrative)
		slices.Sort(one.Touched)
		one.Touched = slices.Compact(one.Touched)
		out = append(out, one)
	}
	order.By(out, func(a, b api.InjectedRow) int {
		return cmp.Or(cmp.Compare(b.Followed, a.Followed), cmp.Compare(b.Injected, a.Injected), b.LastAt.Compare(a.LastAt), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	return out, nil
}

// byRow adds up what became of each row over all sessions.
func byRow(injected []gain.Injected) map[events.ID]*api.InjectedRow {
	all := map[events.ID]*api.InjectedRow{}
	for _, t := range injected {
		for _, r := range t.Rows {
			one := all[r.ID]
			if one == nil {
				one = &api.InjectedRow{ID: r.ID, Touched: []string{}}
				all[r.ID] = one
			}
			one.Injected, one.Files, one.Touched = one.Injected+1, r.Files, append(one.Touched, r.Touched...)
			if r.Followed() {
				one.Followed++
			}
			if r.Asked {
				one.Asked++
			}
			if r.At.After(one.LastAt) {
				one.LastAt = r.At
			}
		}
	}
	return all
}
