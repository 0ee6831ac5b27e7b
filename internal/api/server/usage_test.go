package server

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/turn"
	"github.com/cmemd/cmemd/projections/usage"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// priced knows the price of one model: a dollar a token in, a tenth of it cached, ten out.
func priced(provider, model string, u events.Usage) (float64, bool) {
	return float64(u.Input-u.Cached) + float64(u.Cached)/10 + 10*float64(u.Output), provider == "openai" && model == "known"
}

var (
	costly = events.SessionIDOf("claude-code", "costly")
	cheap  = events.SessionIDOf("claude-code", "cheap")
)

// spend appends turns as two sessions would have them, at moments that are told, and returns a world that knows them.
func spend(t *testing.T, now time.Time) *world {
	t.Helper()
	clock := now.Add(-30 * time.Hour)
	log := logtest.Open(t, eventlog.Config{Now: func() time.Time { return clock }})
	say := func(s events.SessionID, turn events.ID, evs ...events.Event) {
		var drafts []events.Draft
		for _, e := range evs {
			drafts = append(drafts, events.Draft{ID: newID(), OccurredAt: clock, Correlation: turn, Event: e})
		}
		if _, err := eventlog.AppendEnd(context.Background(), log, s.Stream(), drafts...); err != nil {
			t.Fatal(err)
		}
	}
	turn := func(s events.SessionID, model string, u events.Usage) {
		id := newID()
		say(s, id, events.TurnStarted{Turn: id, TurnKind: events.TurnObservation, Provider: "openai", Model: model, PromptBytes: 100, Attempt: 1},
			events.TurnReceived{Turn: id, Output: events.NewOutput("<skip_summary/>"), Usage: u}, events.OutputSkipped{Turn: id, Reason: "skip_summary"})
	}
	for id, name := range map[events.SessionID]string{costly: "costly", cheap: "cheap"} {
		say(id, events.ID{}, events.SessionOpened{Agent: "claude-code", AgentSession: name, Project: name, ProjectRoot: "/src/" + name})
	}
	turn(costly, "known", events.Usage{Input: 100, Cached: 50, Output: 2})
	clock = now
	turn(costly, "known", events.Usage{Input: 10, Output: 1})
	turn(cheap, "nobody knows", events.Usage{Input: 400, Output: 100})
	failed := newID()
	say(cheap, failed, events.TurnStarted{Turn: failed, Provider: "openai", Model: "known", PromptBytes: 5, Attempt: 2},
		events.TurnFailed{
			Turn: failed, Class: events.FailLimit, Status: 429, Usage: events.Usage{Input: 8, Output: 2}, Cost: 0.5, Calls: 3, Model: "known-2",
		})
	w := startWorld(t, log, func(c *testConfig) { c.Price, c.Now = priced, func() time.Time { return now } })
	last, err := log.Last(t.Context())
	if err == nil {
		err = w.views.Wait(t.Context(), last)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func spentOn(turns, in, cached, out int64, usd float64, unpriced int64) api.Spent {
	return api.Spent{
		Count: usage.Count{Turns: turns, Calls: turns, PromptBytes: 100 * turns, Input: in, Cached: cached, Output: out},
		USD:   usd, EstimatedUSD: usd, UnpricedTokens: unpriced,
	}
}

// TestUsage asks for the same turns in every way there is.
func TestUsage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 3, 1, 0, 0, 0, time.FixedZone("east", 3*3600)) // still the 2nd in UTC
	w := spend(t, now)
	failed := api.Spent{Count: usage.Count{Turns: 1, Again: 1, Calls: 3, PromptBytes: 5, Input: 8, Output: 2}, USD: 0.5}
	plus := func(a, b api.Spent) api.Spent {
		a.Add(b.Count, 1)
		return api.Spent{
			Count: a.Count, USD: a.USD + b.USD, EstimatedUSD: a.EstimatedUSD + b.EstimatedUSD, UnpricedTokens: a.UnpricedTokens + b.UnpricedTokens,
		}
	}
	first, second, third := spentOn(1, 100, 50, 2, 75, 0), spentOn(1, 10, 0, 1, 20, 0), spentOn(1, 400, 0, 100, 0, 500)
	late := plus(plus(second, third), failed)
	all := plus(first, late)
	unpriced := []api.ModelTokens{{Provider: "openai", Model: "nobody knows", Tokens: 500}}
	for _, c := range []struct {
		name string
		q    api.UsageQuery
		want api.Usage
	}{
		{"by day", api.UsageQuery{}, api.Usage{By: api.UsageByDay, Zone: "east", Total: all, Unpriced: unpriced, Rows: []api.UsageRow{
			{Key: usage.Key{Day: "2026-03-03"}, Spent: late}, {Key: usage.Key{Day: "2026-03-01"}, Spent: first},
		}}},
		{"by day of UTC", api.UsageQuery{UTC: true, Limit: 1}, api.Usage{By: api.UsageByDay, Zone: "UTC", Total: all, Unpriced: unpriced, Omitted: 1, Rows: []api.UsageRow{
			{Key: usage.Key{Day: "2026-03-02"}, Spent: late},
		}}},
		{"by session", api.UsageQuery{By: api.UsageBySession}, api.Usage{By: api.UsageBySession, Zone: "east", Total: all, Unpriced: unpriced, Rows: []api.UsageRow{
			{Key: usage.Key{Session: costly}, Spent: plus(first, second)}, {Key: usage.Key{Session: cheap}, Spent: plus(third, failed)},
		}}},
		{"by model", api.UsageQuery{By: api.UsageByModel}, api.Usage{By: api.UsageByModel, Zone: "east", Total: all, Unpriced: unpriced, Rows: []api.UsageRow{
			{Key: usage.Key{Provider: "openai", Model: "known"}, Spent: plus(first, second)}, {Key: usage.Key{Provider: "openai", Model: "known-2"}, Spent: failed},
			{Key: usage.Key{Provider: "openai", Model: "nobody knows"}, Spent: third},
		}}},
		{"by provider", api.UsageQuery{By: api.UsageByProvider}, api.Usage{By: api.UsageByProvider, Zone: "east", Total: all, Unpriced: unpriced, Rows: []api.UsageRow{
			{Key: usage.Key{Provider: "openai"}, Spent: all},
		}}},
		{"by outcome", api.UsageQuery{By: api.UsageByOutcome}, api.Usage{By: api.UsageByOutcome, Zone: "east", Total: all, Unpriced: unpriced, Rows: []api.UsageRow{
			{Key: usage.Key{Result: turn.Skipped}, Spent: plus(plus(first, second), third)},
			{Key: usage.Key{Result: turn.Failed, Failure: events.FailLimit}, Spent: failed},
		}}},
		{"of a project, by its name", api.UsageQuery{Project: "costly", By: api.UsageByModel}, api.Usage{By: api.UsageByModel, Zone: "east", Total: plus(first, second),
			Unpriced: []api.ModelTokens{}, Rows: []api.UsageRow{{Key: usage.Key{Provider: "openai", Model: "known"}, Spent: plus(first, second)}}}},
		{"of a project that is not there", api.UsageQuery{Project: "/nowhere"}, api.Usage{By: api.UsageByDay, Zone: "east", Unpriced: []api.ModelTokens{}, Rows: []api.UsageRow{}}},
		{"of a session, by its agent's name", api.UsageQuery{Session: "cheap"}, api.Usage{By: api.UsageByDay, Zone: "east", Total: plus(third, failed),
			Unpriced: unpriced, Rows: []api.UsageRow{{Key: usage.Key{Day: "2026-03-03"}, Spent: plus(third, failed)}}}},
		{"since", api.UsageQuery{Since: now.Add(-time.Hour).UTC()}, api.Usage{By: api.UsageByDay, Zone: "east", Since: now.Add(-time.Hour).UTC(), Total: late,
			Unpriced: unpriced, Rows: []api.UsageRow{{Key: usage.Key{Day: "2026-03-03"}, Spent: late}}}},
		{"until", api.UsageQuery{Until: now.Add(-time.Hour).UTC()}, api.Usage{By: api.UsageByDay, Zone: "east", Until: now.Add(-time.Hour).UTC(), Total: first,
			Unpriced: []api.ModelTokens{}, Rows: []api.UsageRow{{Key: usage.Key{Day: "2026-03-01"}, Spent: first}}}},
	} {
		got, err := api.UsageRoute.Call(t.Context(), w.client, c.q)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		c.want.Position = got.Position
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	st, err := api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{})
	want := api.Today{Since: time.Date(2026, 3, 3, 0, 0, 0, 0, now.Location()), Spent: late}
	if diff := cmp.Diff(want, st.Today); diff != "" || err != nil {
		t.Errorf("today, %v (-want +got):\n%s", err, diff)
	}
}

func TestUsageIsAskedForRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, q := range []api.UsageQuery{{By: "hour"}, {Limit: 10_001}} {
		_, err := api.UsageRoute.Call(t.Context(), w.client, q)
		if p := problem(t, err); p.Status != 400 {
			t.Errorf("%+v: got %v", q, p)
		}
	}
	_, err := api.UsageRoute.Call(t.Context(), w.client, api.UsageQuery{Session: "nobody"})
	if p := problem(t, err); p.Status != 404 {
		t.Errorf("an unknown session: got %v", p)
	}
	got, err := api.UsageRoute.Call(t.Context(), w.client, api.UsageQuery{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if want := `"rows":[],"unpriced":[]}`; err != nil || len(got.Rows) > 0 || string(b[len(b)-len(want):]) != want {
		t.Errorf("of an empty log: got %s, %v", b, err)
	}
}
