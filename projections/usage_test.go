package projections

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/turn"
	"github.com/cmemd/cmemd/projections/usage"
	"github.com/cmemd/cmemd/testkit/follow"
)

func mustUsage(t tb, v *Views, f usage.Filter) []usage.Group {
	t.Helper()
	groups, err := v.Usage(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// total is the sum over all models of g.
func total(g usage.Group) (sum usage.Count) {
	for _, m := range g.Models {
		sum.Add(m.Count, 1)
	}
	return sum
}

// usageOf is what all turns of a session cost, by model.
func usageOf(t tb, v *Views, s events.SessionID) (models []usage.Model) {
	t.Helper()
	for _, g := range mustUsage(t, v, usage.Filter{Session: s, By: usage.BySession}) {
		models = append(models, g.Models...)
	}
	return models
}

// spent are six turns of two sessions: one each that was kept, skipped, dropped, failed, and two more of another model.
func spent(t *testing.T) (*world, *Views) {
	w := newWorld(t)
	one, two := w.open(0), w.open(1)
	in := w.tool(one, "")
	w.keep(w.start(one, events.TurnObservation, in), "kept")
	w.skip(w.start(one, events.TurnObservation, in))
	w.drop(w.start(one, events.TurnObservation, in))
	w.fail(w.start(two, events.TurnObservation, in))
	w.model, w.now = "large", w.now.Add(26*time.Hour)
	w.keep(w.start(two, events.TurnObservation, in), "kept", "twice")
	probe := w.id()
	w.say(two.Stream(), probe, events.TurnStarted{Turn: probe, Provider: "openai", PromptBytes: 7, Attempt: 2, Probe: true})
	w.say(two.Stream(), probe, events.TurnFailed{Turn: probe, Class: events.FailCrash})
	w.start(two, events.TurnObservation, in) // still runs
	return w, caughtUp(t, w)
}

func answered(n int64) usage.Count {
	return usage.Count{
		Turns: n, Calls: n, PromptBytes: 900 * n, Input: 100 * n, Cached: 10 * n, Output: 30 * n,
		Unstated: events.Usage{Input: 100 * n, Cached: 10 * n, Output: 30 * n},
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	_, v := spent(t)
	failed := usage.Count{Turns: 1, PromptBytes: 900, Unmetered: 1}
	probed := usage.Count{Turns: 1, Again: 1, PromptBytes: 7, Unmetered: 1}
	four := answered(3)
	four.Add(failed, 1)
	small, large := usage.Model{Provider: "anthropic", Model: "small", Count: four}, usage.Model{Provider: "anthropic", Model: "large", Count: answered(1)}
	group := func(k usage.Key, models ...usage.Model) usage.Group {
		return usage.Group{Key: k, Models: models}
	}
	model := func(name string, c usage.Count) usage.Model {
		return usage.Model{Provider: "anthropic", Model: name, Count: c}
	}
	first, other := group(usage.Key{Session: sessionOf(0)}, model("small", answered(3))),
		group(usage.Key{Session: sessionOf(1)}, model("large", answered(1)), model("small", failed), usage.Model{Provider: "openai", Model: "", Count: probed})
	bySession := []usage.Group{first, other}
	if sessionOf(1).String() < sessionOf(0).String() {
		slices.Reverse(bySession)
	}
	for _, c := range []struct {
		name   string
		filter usage.Filter
		want   []usage.Group
	}{
		{"by day", usage.Filter{}, []usage.Group{
			group(usage.Key{Day: "2026-03-01"}, small), group(usage.Key{Day: "2026-03-02"}, large, usage.Model{Provider: "openai", Model: "", Count: probed}),
		}},
		{"by session", usage.Filter{By: usage.BySession}, bySession},
		{"by model", usage.Filter{By: usage.ByModel}, []usage.Group{
			group(usage.Key{Provider: "anthropic", Model: "large"}, large), group(usage.Key{Provider: "anthropic", Model: "small"}, small),
			group(usage.Key{Provider: "openai"}, usage.Model{Provider: "openai", Model: "", Count: probed}),
		}},
		{"by provider", usage.Filter{By: usage.ByProvider}, []usage.Group{
			group(usage.Key{Provider: "anthropic"}, large, small), group(usage.Key{Provider: "openai"}, usage.Model{Provider: "openai", Model: "", Count: probed}),
		}},
		{"by outcome", usage.Filter{By: usage.ByOutcome}, []usage.Group{
			group(usage.Key{Result: turn.Kept}, large, model("small", answered(1))),
			group(usage.Key{Result: turn.Skipped}, model("small", answered(1))),
			group(usage.Key{Result: turn.Dropped}, model("small", answered(1))),
			group(usage.Key{Result: turn.Failed, Failure: events.FailLimit}, model("small", failed)),
			group(usage.Key{Result: turn.Failed, Failure: events.FailCrash, Probe: true}, usage.Model{Provider: "openai", Model: "", Count: probed}),
		}},
		{"since", usage.Filter{Since: epoch.Add(24 * time.Hour)}, []usage.Group{group(usage.Key{Day: "2026-03-02"}, large, usage.Model{Provider: "openai", Model: "", Count: probed})}},
		{"until", usage.Filter{Until: epoch.Add(24 * time.Hour)}, []usage.Group{group(usage.Key{Day: "2026-03-01"}, small)}},
		{"until where it begins", usage.Filter{Until: epoch}, []usage.Group{}},
		{"of a session", usage.Filter{Session: sessionOf(0)}, []usage.Group{group(usage.Key{Day: "2026-03-01"}, model("small", answered(3)))}},
		{"among some", usage.Filter{Among: map[events.SessionID]bool{sessionOf(1): true}, By: usage.BySession}, []usage.Group{other}},
		{"among none", usage.Filter{Among: map[events.SessionID]bool{}}, []usage.Group{}},
	} {
		if diff := gocmp.Diff(c.want, mustUsage(t, v, c.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if of := usageOf(t, v, sessionOf(9)); len(of) > 0 {
		t.Errorf("of an unknown session: got %v", of)
	}
}

// TestDaysAreThoseOfAZone: the same turns lie in other days where clocks show another time, to the quarter of an hour.
func TestDaysAreThoseOfAZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	for _, at := range []string{"2026-03-01T18:14:00Z", "2026-03-01T18:16:00Z", "2026-03-29T00:50:00Z", "2026-03-29T21:50:00Z", "2026-03-29T22:10:00Z"} {
		w.now, _ = time.Parse(time.RFC3339, at)
		w.keep(w.start(s, events.TurnObservation, in), "kept")
	}
	v := caughtUp(t, w)
	for zone, want := range map[string]map[string]int64{
		"UTC":            {"2026-03-01": 2, "2026-03-29": 3},
		"Asia/Kathmandu": {"2026-03-01": 1, "2026-03-02": 1, "2026-03-29": 1, "2026-03-30": 2}, // 5:45 ahead
		"Europe/Berlin":  {"2026-03-01": 2, "2026-03-29": 2, "2026-03-30": 1},                  // an hour is skipped on the 29th
	} {
		in, err := time.LoadLocation(zone)
		if err != nil {
			t.Skip("no time zones here: ", err)
		}
		got := map[string]int64{}
		for _, g := range mustUsage(t, v, usage.Filter{Zone: in}) {
			got[g.Day] = total(g).Turns
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", zone, diff)
		}
	}
}

// TestForgettingLeavesTheNumbers: what was paid was paid, whoever forgets what for. Where it was forgotten before that was told,
// and where it is named again, nothing more is taken back than ever was.
func TestForgettingLeavesTheNumbers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bare bool
		want []usage.Group
	}{
		"told": {want: []usage.Group{
			{Key: usage.Key{Result: turn.Kept}, Models: []usage.Model{{Provider: "anthropic", Model: "small-0101", Asked: "small", Count: usage.Count{
				Turns: 1, Calls: 2, PromptBytes: 4000, Input: 5, Output: 1, Stated: 5e8, Unstated: events.Usage{Output: 1},
			}}}},
			{Key: usage.Key{Result: turn.Failed, Failure: events.FailLimit}, Models: []usage.Model{{Provider: "anthropic", Model: "small", Count: usage.Count{
				Turns: 1, Calls: 3, PromptBytes: 900, Input: 3, Unstated: events.Usage{Input: 3},
			}}}},
		}},
		"never told": {bare: true, want: []usage.Group{
			{Key: usage.Key{Result: turn.Kept}, Models: []usage.Model{{Provider: "anthropic", Model: "small", Count: usage.Count{Turns: 1, Calls: 1, PromptBytes: 900, Unmetered: 1}}}},
			{Key: usage.Key{Result: turn.Failed}, Models: []usage.Model{{Provider: "anthropic", Model: "small", Count: usage.Count{Turns: 1, PromptBytes: 900, Unmetered: 1}}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.bare = c.bare
			s := w.open(0)
			in := w.tool(s, "")
			turn, lost := w.start(s, events.TurnObservation, in), w.start(s, events.TurnObservation, in)
			turn.bill = &events.Bill{
				Usage: events.Usage{Input: 5, Output: 1}, Cost: 0.5, CostStated: true, Uncosted: events.Usage{Output: 1}, Calls: 2, Model: "small-0101", SentBytes: 4000,
			}
			lost.bill = &events.Bill{Usage: events.Usage{Input: 3}, Calls: 3}
			records := w.keep(turn, "secret")
			w.fail(lost)
			last, err := w.log.Last(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			v := caughtUp(t, w)
			gone := []events.Position{records[0].Position, records[1].Position, last}
			for range 2 { // the second time there is nothing left to tell
				w.forget(false, gone)
				follow.MustCatchUp(t, v)
				for of, v := range map[string]*Views{"live": v, "rebuilt": caughtUp(t, w)} {
					if diff := gocmp.Diff(c.want, mustUsage(t, v, usage.Filter{By: usage.ByOutcome})); diff != "" {
						t.Errorf("%s (-want +got):\n%s", of, diff)
					}
				}
			}
		})
	}
}

// TestWhatProvidersTellIsCounted of turns that failed and were asked several times, by the model that answered; what they
// state is money, and only the rest is priced.
func TestWhatProvidersTellIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	in := w.tool(s, "")
	for _, end := range []struct {
		bill   events.Bill
		failed bool
	}{
		{events.Bill{Usage: events.Usage{Input: 1000, Cached: 400, Output: 10}, Cost: 0.25, Calls: 1}, false},
		{events.Bill{Usage: events.Usage{Input: 2000, Output: 20}, Calls: 3, SentBytes: 50_000}, false},
		{events.Bill{Usage: events.Usage{Input: 300}, Cost: 0.1, Calls: 2}, true},
		{events.Bill{Usage: events.Usage{Input: 50, Output: 5}, Calls: 3, Model: "small-0101"}, true},
		{events.Bill{}, true},
		{events.Bill{Usage: events.Usage{Input: 7}, Cost: 1e300, Calls: 1, Model: "dear"}, false},
		{events.Bill{Usage: events.Usage{Input: 80, Output: 8}, CostStated: true, Calls: 1, Model: "free"}, false},
		{events.Bill{CostStated: true, Calls: 1, Model: "rules"}, false}, // it reads no tokens
		{events.Bill{Usage: events.Usage{Input: 90, Output: 9}, Cost: 0.5, CostStated: true, Uncosted: events.Usage{Input: 40, Output: 4}, Calls: 2, Model: "both"}, false},
	} {
		turn := w.start(s, events.TurnObservation, in)
		if turn.bill = &end.bill; end.failed {
			w.fail(turn)
		} else {
			w.skip(turn)
		}
	}
	v := caughtUp(t, w)
	want := []usage.Model{
		{Provider: "anthropic", Model: "both", Asked: "small", Count: usage.Count{
			Turns: 1, Calls: 2, PromptBytes: 900, Input: 90, Output: 9, Stated: 5e8, Unstated: events.Usage{Input: 40, Output: 4},
		}},
		{Provider: "anthropic", Model: "dear", Asked: "small", Count: usage.Count{Turns: 1, Calls: 1, PromptBytes: 900, Input: 7, Stated: 1e15}},
		{Provider: "anthropic", Model: "free", Asked: "small", Count: usage.Count{Turns: 1, Calls: 1, PromptBytes: 900, Input: 80, Output: 8}},
		{Provider: "anthropic", Model: "rules", Asked: "small", Count: usage.Count{Turns: 1, Calls: 1, PromptBytes: 900}},
		{Provider: "anthropic", Model: "small", Count: usage.Count{
			Turns: 4, Calls: 6, PromptBytes: 52_700, Input: 3300, Cached: 400, Output: 30, Unmetered: 1, Stated: 350_000_000,
			Unstated: events.Usage{Input: 2000, Output: 20},
		}},
		{Provider: "anthropic", Model: "small-0101", Asked: "small", Count: usage.Count{Turns: 1, Calls: 3, PromptBytes: 900, Input: 50, Output: 5, Unstated: events.Usage{Input: 50, Output: 5}}},
	}
	got := usageOf(t, v, s)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	lists := map[string]usage.Price{"none": nil}
	for _, name := range []string{"small", "small-0101", "nothing"} {
		lists[name] = func(_, model string, u events.Usage) (float64, bool) {
			return float64(u.Input) + 10*float64(u.Output), model == name
		}
	}
	for _, c := range []struct {
		of     int // want
		priced string
		want   usage.Money
	}{
		{0, "small", usage.Money{Stated: 0.5, Listed: 80}}, // by the model that was asked
		{0, "nothing", usage.Money{Stated: 0.5, Unpriced: 44}},
		{2, "small", usage.Money{}}, // it costs nothing, and says so
		{2, "none", usage.Money{}},
		{4, "small", usage.Money{Stated: 0.35, Listed: 2200}},
		{4, "small-0101", usage.Money{Stated: 0.35, Unpriced: 2020}},
		{4, "none", usage.Money{Stated: 0.35, Unpriced: 2020}},
		{5, "small", usage.Money{Listed: 100}},
		{5, "small-0101", usage.Money{Listed: 100}},
		{5, "nothing", usage.Money{Unpriced: 55}},
	} {
		if m := got[c.of].Money(lists[c.priced]); m != c.want {
			t.Errorf("%s where %s has a price: got %+v, want %+v", got[c.of].Model, c.priced, m, c.want)
		}
	}
	if usd := (usage.Money{Stated: 0.35, Listed: 2200}).USD(); usd != 2200.35 {
		t.Errorf("got $%v", usd)
	}
}

// TestNobodyAskedCostsNothing: a turn whose provider cannot be asked told all that there is to tell.
func TestNobodyAskedCostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(0)
	for _, e := range []events.TurnFailed{{Class: events.FailSetup}, {Class: events.FailSetup, Calls: 1}, {Class: events.FailTransport}} {
		turn := w.start(s, events.TurnObservation, w.tool(s, ""))
		e.Turn = turn.id
		w.say(s.Stream(), turn.id, e)
	}
	got := map[events.FailureClass]int64{}
	for _, g := range mustUsage(t, caughtUp(t, w), usage.Filter{By: usage.ByOutcome}) {
		got[g.Failure] = total(g).Unmetered
	}
	if diff := gocmp.Diff(map[events.FailureClass]int64{events.FailSetup: 1, events.FailTransport: 1}, got); diff != "" {
		t.Errorf("turns of which no tokens are known (-want +got):\n%s", diff)
	}
}

// TestUsageAddsUp lets anything happen: however turns are divided, the parts are all of them, and as a plain count of the
// log finds them.
func TestUsageAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		v := openIn(t, tempDir(t), w, rapid.IntRange(1, 9).Draw(t, "slice"))
		defer v.Close()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step(t)
			if rapid.IntRange(0, 3).Draw(t, "catch up") == 0 {
				follow.MustCatchUp(t, v)
			}
		}
		follow.MustCatchUp(t, v)
		want := naiveUsage(t, w)
		for _, by := range []usage.By{usage.ByDay, usage.BySession, usage.ByModel, usage.ByProvider, usage.ByOutcome} {
			var got usage.Count
			for _, g := range mustUsage(t, v, usage.Filter{By: by}) {
				got.Add(total(g), 1)
			}
			if got != want {
				t.Fatalf("by %s: got %+v, want %+v", by, got, want)
			}
		}
		var got usage.Count
		for s := range w.opened {
			for _, m := range usageOf(t, v, s) {
				got.Add(m.Count, 1)
			}
		}
		if got != want {
			t.Fatalf("of the sessions: got %+v, want %+v", got, want)
		}
	})
}

// naiveUsage counts the turns that ended straight from what is left of the log.
func naiveUsage(t tb, w *world) usage.Count {
	started, left, sum := map[events.ID]events.TurnStarted{}, map[events.ID]events.Bill{}, usage.Count{}
	var ends []events.Record
	for r, err := range w.log.All(context.Background(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch e, _ := r.Event(); e := e.(type) {
		case events.TurnStarted:
			started[e.Turn] = e
		case events.TurnReceived:
			left[r.Correlation] = e.Bill()
		case events.TurnFailed:
			left[r.Correlation] = e.Bill()
		case events.MemoryForgotten:
			for _, s := range e.Spent {
				left[s.Turn] = s.Bill
			}
		}
		if _, ok := started[r.Correlation]; ok && (r.Kind == events.KindTurnReceived || r.Kind == events.KindTurnFailed) {
			ends = append(ends, r)
		}
	}
	for _, r := range ends {
		b := left[r.Correlation]
		one := usage.Count{
			Turns: 1, PromptBytes: b.SentBytes, Input: b.Usage.Input, Cached: b.Usage.Cached, Output: b.Usage.Output, Calls: int64(b.Calls),
			Stated: int64(b.Cost * 1e9),
		}
		if one.PromptBytes == 0 {
			one.PromptBytes = int64(started[r.Correlation].PromptBytes)
		}
		if r.Kind == events.KindTurnReceived {
			one.Calls = max(one.Calls, 1)
		}
		if b.Usage == (events.Usage{}) && (b.Cost != 0 || !b.CostStated) {
			one.Unmetered = 1
		}
		switch {
		case b.Cost == 0 && !b.CostStated:
			one.Unstated = b.Usage
		default:
			one.Unstated = b.Uncosted
		}
		sum.Add(one, 1)
	}
	return sum
}

// TestUsageIsReadInSlices has more cells than a transaction reads, several of each quarter of an hour.
func TestUsageIsReadInSlices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var sessions []events.SessionID
	for n := range 7 {
		sessions = append(sessions, w.open(n))
	}
	const rounds = 4096/7 + 100 // a transaction of a read ends after 4,096 cells
	for range rounds {
		for _, s := range sessions {
			id := w.id()
			w.say(s.Stream(), id, events.TurnStarted{Turn: id, Provider: "p"}, events.TurnReceived{Turn: id, Usage: events.Usage{Input: 1}},
				events.OutputSkipped{Turn: id, Reason: events.ReasonEmpty})
		}
		w.now = w.now.Truncate(15 * time.Minute).Add(15 * time.Minute)
	}
	v := caughtUp(t, w)
	groups := mustUsage(t, v, usage.Filter{By: usage.BySession})
	if len(groups) != 7 {
		t.Fatalf("got %d sessions, want 7", len(groups))
	}
	for _, g := range groups {
		if n := total(g); n.Turns != rounds || n.Input != rounds {
			t.Errorf("%s: got %+v, want %d turns", g.Session, n, rounds)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Usage(ctx, usage.Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

// BenchmarkUsage is a year of eight hours a day, two sessions in each quarter of an hour, by model and of its last day.
func BenchmarkUsage(b *testing.B) {
	w := newWorld(b)
	for day := range 250 {
		s, other := w.open(2*day), w.open(2*day+1)
		w.now = epoch.AddDate(0, 0, day)
		for range 32 {
			for _, s := range []events.SessionID{s, other} {
				t := w.start(s, events.TurnObservation)
				w.skip(t)
			}
			w.now = w.now.Truncate(15 * time.Minute).Add(15 * time.Minute)
		}
	}
	v := mustOpen(b, b.TempDir(), w.log, engine.Config{})
	follow.MustCatchUp(b, v)
	for name, f := range map[string]usage.Filter{
		"year by model": {By: usage.ByModel}, "year by day": {}, "last day": {Since: w.now.Add(-12 * time.Hour)},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				mustUsage(b, v, f)
			}
		})
	}
}
