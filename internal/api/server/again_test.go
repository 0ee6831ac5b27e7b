package server

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/providertest"
	"github.com/cmemd/cmemd/testkit/socket"
)

// moody is an observer whose answers a test changes as it goes on.
type moody struct {
	*providertest.Scripted
	now atomic.Pointer[providertest.Step]
}

func newMoody(step providertest.Step) *moody {
	m := &moody{}
	m.turn(step)
	m.Scripted = providertest.NewScripted(func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		return (*m.now.Load())(ctx, call, p)
	})
	return m
}

// turn has it answer by step from now on.
func (m *moody) turn(step providertest.Step) { m.now.Store(&step) }

// say answers as a model does that did what it was asked: with an observation of that title, or a summary.
func say(title string) providertest.Step {
	return func(_ context.Context, _ int, p observer.Prompt) (observer.Reply, error) {
		text := fmt.Sprintf("<observation><type>discovery</type><title>%s</title></observation>", title)
		if p.Kind == events.TurnSummary {
			text = fmt.Sprintf("<summary><request>%s</request></summary>", title)
		}
		return observer.Reply{Text: events.NewOutput(text), Form: events.FormXML, StopReason: "end_turn"}, nil
	}
}

// prose answers with words that nothing can be read from.
func prose() providertest.Step { return providertest.Text("I am sorry, there is nothing I can do.") }

// moodyWorld is a world whose sessions are observed by m.
func moodyWorld(tb testing.TB, m *moody, system func(*actors.Config), change func(*testConfig)) *world {
	tb.Helper()
	w := &world{home: socket.Dir(tb), log: logtest.Open(tb, eventlog.Config{})}
	w.open(tb)
	cfg := actors.Config{Log: w.log, Providers: []actors.Route{{Provider: m}}}
	if system != nil {
		system(&cfg)
	}
	var err error
	if w.actors, err = actors.New(cfg); err != nil {
		tb.Fatal(err)
	}
	w.serve(tb, func(c *testConfig) {
		c.Providers = []api.Provider{{Name: m.Name(), Model: m.Model(), BatchLimits: m.BatchLimits()}, {Name: "other", Model: "large", TierOnly: true}}
		if change != nil {
			change(c)
		}
	})
	return w
}

// use has a session use n tools, in one append, and stop.
func (w *world) use(tb testing.TB, name string, n int) {
	tb.Helper()
	o := session.Origin{Agent: "claude-code", AgentSession: name, Project: "shop", ProjectRoot: "/src/shop", Cwd: "/src/shop"}
	var cmds []session.Command
	for i := range n {
		cmds = append(cmds, session.Capture{
			ID: newID(), At: time.Now(), Origin: o,
			Event: events.ToolUsed{Tool: "Edit", Input: fmt.Sprintf(`{"file_path":"/src/shop/%d.go"}`, i), Output: "done"},
		})
	}
	cmds = append(cmds, session.Capture{ID: newID(), At: time.Now(), Origin: o, Event: events.AgentStopped{Cause: events.StopDone}})
	if _, err := w.actors.Do(tb.Context(), o.Session(), cmds...); err != nil {
		tb.Fatal(err)
	}
}

func claude(name string) events.SessionID { return events.SessionIDOf("claude-code", name) }

// balance is what became of all inputs, once the views know all there is.
func (w *world) balance(tb testing.TB) api.Balance {
	tb.Helper()
	last, err := w.log.Last(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.views.Wait(tb.Context(), last); err != nil {
		tb.Fatal(err)
	}
	b, err := w.views.Balance(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	b.Reasons = nil
	return b
}

// again asks for turns again, and waits for the answers.
func (w *world) again(tb testing.TB, q api.ReobserveRequest) api.Reobserved {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	q.Wait = true
	done, err := api.ReobserveRoute.Call(ctx, w.client, q, nil)
	if err != nil {
		tb.Fatalf("%+v: %v", q, err)
	}
	return done
}

// TestFiftyAnsweredByProseAreNotLost has an observer answer fifty tool uses with prose, and then do what it is asked: what
// was dropped is listed, asked for again, and observed.
func TestFiftyAnsweredByProseAreNotLost(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 50)
	w.settled(t)
	if got, want := w.balance(t), (api.Balance{Balance: session.Balance{Captured: 51, Dropped: 51}}); got.Captured != want.Captured || got.Dropped != want.Dropped {
		t.Fatalf("after prose: got %+v, want %+v", got, want)
	}
	listed, err := api.OutcomesRoute.Call(t.Context(), w.client, api.OutcomesQuery{Outcome: "dropped", Class: "prose", Kind: "tool_used"})
	if err != nil || len(listed.Inputs) != 50 {
		t.Fatalf("listed as dropped: got %d, %v, want all 50", len(listed.Inputs), err)
	}
	m.turn(say("seen"))
	calls := m.Calls()
	done := w.again(t, api.ReobserveRequest{Dropped: true})
	if done.Inputs != 51 || done.Sessions != 1 || done.Turns != m.Calls()-calls || done.Answers == nil || done.Answers.Observed != 51 || len(done.Stopped) > 0 {
		t.Errorf("asked again: got %+v and %+v after %d calls, want 51 observed in as many turns as foretold", done, done.Answers, m.Calls()-calls)
	}
	if got := w.balance(t); got.Observed != 51 || got.Dropped != 0 || got.Reobserve != 0 {
		t.Errorf("at the end: got %+v, want all observed, none lost", got)
	}
	v, err := api.VerifyRoute.Call(t.Context(), w.client, api.NoQuery{}, nil)
	if err != nil || !v.OK || v.Balance == nil || v.Balance.Observed != 51 || v.Unchecked != "" {
		t.Errorf("verify: got %+v, %v, want a balance that adds up", v, err)
	}
}

// TestWhatComesToNothingAgainTakesNothing asks again about what was observed: prose, a skip and a failure leave it standing.
func TestWhatComesToNothingAgainTakesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		step providertest.Step
		want api.Answers
		left api.Balance
	}{
		{"prose", prose(), api.Answers{Dropped: 4}, api.Balance{Balance: session.Balance{Captured: 4, Observed: 4}}},
		{"a blank", providertest.Text(""), api.Answers{Blank: 3, Dropped: 1}, api.Balance{Balance: session.Balance{Captured: 4, Observed: 1, Skipped: 3}}},
		{"a skip", providertest.Text(observer.SkipForm), api.Answers{Skipped: 4}, api.Balance{Balance: session.Balance{Captured: 4, Skipped: 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMoody(say("first"))
			w := moodyWorld(t, m, nil, nil)
			w.use(t, "s", 3)
			w.settled(t)
			m.turn(c.step)
			done := w.again(t, api.ReobserveRequest{Session: "s"})
			if done.Answers == nil || *done.Answers != c.want {
				t.Errorf("got %+v, want %+v", done.Answers, c.want)
			}
			if got := w.balance(t); got.Observed != c.left.Observed || got.Skipped != c.left.Skipped || got.Dropped != 0 || got.Reobserve != 0 {
				t.Errorf("got %+v, want %+v", got, c.left)
			}
			found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "first"})
			if err != nil || len(found.Results) != 2 {
				t.Errorf("found %+v, %v, want the observation and the summary of before", found.Results, err)
			}
		})
	}
}

// TestAnswersReplaceWhatWasThere asks again twice: the last answers stand, and why leads through all of them.
func TestAnswersReplaceWhatWasThere(t *testing.T) {
	t.Parallel()
	m := newMoody(say("one"))
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 3)
	w.settled(t)
	id := map[string]events.ID{}
	only := func(title string) {
		t.Helper()
		w.settled(t)
		for _, word := range []string{"one", "two", "three"} {
			found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: word, Kind: "observation"})
			if err != nil || (len(found.Results) == 1) != (word == title) {
				t.Fatalf("found %+v of %s, %v, want %s alone", found.Results, word, err, title)
			}
			if word == title {
				id[title] = found.Results[0].ID
			}
		}
	}
	only("one")
	for _, title := range []string{"two", "three"} {
		m.turn(say(title))
		if done := w.again(t, api.ReobserveRequest{Session: "s"}); done.Inputs != 4 || done.Answers.Observed != 4 {
			t.Fatalf("got %+v", done)
		}
		only(title)
	}
	last, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: id["three"].String()})
	if err != nil || len(last.Older) != 2 || last.Older[0].ID != id["one"] || last.Older[1].ID != id["two"] || len(last.Newer) != 0 {
		t.Errorf("why the last: got %+v before it, %v, want both of before", last.Older, err)
	}
	first, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: id["one"].String()})
	if err != nil || len(first.Newer) != 2 || first.Newer[1].ID != id["three"] || len(first.Turns) != 1 || len(first.Turns[0].Inputs) < 3 || !first.Row.Superseded {
		t.Errorf("why the first: got %+v, %v, want what it came from, and both of after", first, err)
	}
	all, err := api.SessionRoute.Call(t.Context(), w.client, api.IDQuery{ID: "s"})
	if err != nil || len(all.Rows) != 2 {
		t.Errorf("the session's rows: got %d, %v, want the last observation and the last summary", len(all.Rows), err)
	}
}

// TestDryRunChangesNothing says what it would take, by what turns on record used where there are any.
func TestDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, func(c *testConfig) {
		c.Price = func(_, _ string, u events.Usage) (float64, bool) {
			return (float64(u.Input)*2 + float64(u.Output)*10) / 1e6, true
		}
	})
	w.use(t, "s", 50)
	w.use(t, "other", 2)
	w.settled(t)
	before, calls := len(w.records(t)), m.Calls()
	plan, err := api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Dropped: true, DryRun: true, Wait: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Inputs != 54 || plan.Sessions != 2 || plan.Turns != 6 || plan.Position != 0 || !plan.DryRun || plan.Provider != "scripted" {
		t.Errorf("got %+v, want 54 inputs of 2 sessions in 3 + 1 + 1 + 1 turns", plan)
	}
	if want := 2 * float64(plan.Tokens) / 1e6; plan.USD != want {
		t.Errorf("without a record: got $%g, want $%g", plan.USD, want)
	}
	if plan.Tokens != (plan.Bytes+3)/4 || !strings.Contains(plan.Estimate, "a quarter of the bytes") {
		t.Errorf("without a record: got %d tokens of %d bytes, %q", plan.Tokens, plan.Bytes, plan.Estimate)
	}
	if got := len(w.records(t)); got != before || m.Calls() != calls {
		t.Errorf("a dry run left %d records and %d calls", got-before, m.Calls()-calls)
	}
	m.turn(providertest.Answer(observer.Reply{Text: events.NewOutput("no"), Form: events.FormXML, Bill: events.Bill{Usage: events.Usage{Input: 90, Output: 10}}}))
	w.use(t, "third", 4)
	w.settled(t)
	sent := 0
	turns, err := w.views.LatestTurns(t.Context(), 2, 2, nil)
	for _, turn := range turns {
		if turn.PromptBytes > 0 {
			sent += turn.PromptBytes
		}
	}
	if err != nil || sent == 0 {
		t.Fatalf("got %+v, %v", turns, err)
	}
	plan, err = api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Session: "third", DryRun: true}, nil)
	used := 0
	for _, turn := range turns {
		if turn.PromptBytes > 0 {
			used += 100
		}
	}
	if want := int64(float64(plan.Bytes)*float64(used)/float64(sent) + 0.5); err != nil || plan.Tokens != want || !strings.Contains(plan.Estimate, "on record") && !strings.Contains(plan.Estimate, "latest") {
		t.Errorf("got %d tokens by %q, %v, want %d", plan.Tokens, plan.Estimate, err, want)
	}
	if want := float64(plan.Bytes) * float64(used/100) * (90*2 + 10*10) / 1e6 / float64(sent); math.Abs(plan.USD-want) > 1e-12 {
		t.Errorf("got $%g, want $%g", plan.USD, want)
	}
}

// TestWhatIsChosen holds every condition to its words, alone and together.
func TestWhatIsChosen(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "dropped", 3)
	w.settled(t)
	m.turn(providertest.Text(""))
	w.use(t, "skipped", 1) // its stop comes to nothing: a summary was asked for
	w.settled(t)
	between := time.Now()
	m.turn(say("kept"))
	w.use(t, "kept", 30)
	w.settled(t)
	turns, err := w.views.LatestTurns(t.Context(), 10, 10, func(t api.Turn) bool { return t.Kind == events.TurnObservation && t.Session == claude("kept") })
	if err != nil || len(turns) != 2 {
		t.Fatalf("got %+v, %v, want two turns over 30 inputs", turns, err)
	}
	small := turns[0]
	if _, err := eventlog.AppendEnd(t.Context(), w.log, claude("kept").Stream(), events.Draft{
		ID: newID(), OccurredAt: time.Now(), Event: events.MemoryForgotten{Positions: small.Settles[:1], Cause: "person"},
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		q    api.ReobserveRequest
		want int
	}{
		{"dropped", api.ReobserveRequest{Dropped: true}, 5},
		{"skipped, by reason", api.ReobserveRequest{Reason: "empty"}, 1},
		{"class", api.ReobserveRequest{Class: "prose"}, 4},
		{"class of what is kept", api.ReobserveRequest{Class: "prose", Session: "kept"}, 0},
		{"session", api.ReobserveRequest{Session: "skipped"}, 2},
		{"session by our id", api.ReobserveRequest{Session: claude("dropped").String()}, 4},
		{"session, dropped", api.ReobserveRequest{Session: "skipped", Dropped: true}, 1},
		{"project", api.ReobserveRequest{Project: "shop"}, 36},
		{"another project", api.ReobserveRequest{Project: "elsewhere"}, 0},
		{"turn, without what was forgotten", api.ReobserveRequest{Turn: small.ID.String()}, 9},
		{"turn by its beginning", api.ReobserveRequest{Turn: small.ID.String()[:23]}, 9},
		{"turn of another session", api.ReobserveRequest{Turn: small.ID.String(), Session: "dropped"}, 0},
		{"since", api.ReobserveRequest{Since: between}, 30},
		{"until", api.ReobserveRequest{Until: between}, 6},
		{"since and until", api.ReobserveRequest{Since: between, Until: between}, 0},
		{"since, dropped", api.ReobserveRequest{Since: between, Dropped: true}, 0},
	} {
		c.q.DryRun = true
		got, err := api.ReobserveRoute.Call(t.Context(), w.client, c.q, nil)
		if err != nil || got.Inputs != c.want || (got.Turns == 0) != (c.want == 0) {
			t.Errorf("%s: got %+v, %v, want %d inputs", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct {
		name   string
		q      api.ReobserveRequest
		status int
		say    string
	}{
		{"nothing", api.ReobserveRequest{}, 400, "dropped, turn, session"},
		{"a provider alone", api.ReobserveRequest{Provider: "other"}, 400, "dropped, turn, session"},
		{"an unknown provider", api.ReobserveRequest{Dropped: true, Provider: "none"}, 400, "scripted, other"},
		{"no turn's id", api.ReobserveRequest{Turn: "x"}, 400, "is no id"},
		{"an unknown turn", api.ReobserveRequest{Turn: newID().String()}, 404, "no turn"},
		{"an unknown session", api.ReobserveRequest{Session: "nobody's"}, 404, "no session"},
	} {
		_, err := api.ReobserveRoute.Call(t.Context(), w.client, c.q, nil)
		if p := problem(t, err); p.Status != c.status || !strings.Contains(p.Error(), c.say) {
			t.Errorf("%s: got %d, %v, want %d and %q", c.name, p.Status, p, c.status, c.say)
		}
	}
	if n := w.count(t, events.KindReobserveRequested); n != 0 {
		t.Errorf("%d requests are on record", n)
	}
	_, err = api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Session: "skipped", Provider: "other"}, nil)
	if p := problem(t, err); p.Status != 400 || !strings.Contains(p.Error(), "is not asked now") {
		t.Errorf("one that nobody asks: got %v", p)
	}
	wished, err := api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Session: "skipped", Provider: "scripted"}, nil)
	if err != nil || wished.Provider != "scripted" || w.count(t, events.KindReobserveRequested) != 1 {
		t.Errorf("got %+v, %v, want the one that is asked", wished, err)
	}
	for _, r := range w.records(t) {
		if e, err := r.Event(); r.Kind == events.KindReobserveRequested && (err != nil || e.(events.ReobserveRequested).Provider != "scripted") {
			t.Errorf("on record is %+v, %v", e, err)
		}
	}
}

// chosen is what a request would ask for of the inputs that f chooses, at most so many; 0: as many as one takes.
func (w *world) chosen(tb testing.TB, f outcomes.Filter, most int) api.Reobserved {
	tb.Helper()
	a, err := w.server.memories.reobserver.Request(tb.Context(), api.ReobserveRequest{DryRun: true}, f)
	if err != nil {
		tb.Fatal(err)
	}
	a.Most = cmp.Or(most, a.Most)
	done, err := a.Run(tb.Context(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return done
}

// TestTurnsAreAskedForWhole chooses a part of what a turn observed, and as much as makes a request stop within a turn.
func TestTurnsAreAskedForWhole(t *testing.T) {
	t.Parallel()
	m := newMoody(say("kept"))
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 10)
	w.settled(t)
	w.use(t, "later", 10)
	w.settled(t)
	all, err := w.views.Outcomes(t.Context(), outcomes.Filter{Kind: events.KindToolUsed, Session: claude("s")})
	if err != nil || len(all) != 10 {
		t.Fatalf("got %d, %v", len(all), err)
	}
	ofTurn := outcomes.Filter{Session: claude("s"), Kind: events.KindToolUsed}
	older := ofTurn
	older.Before = all[2].Position
	if a := w.chosen(t, older, 0); a.Inputs != 10 {
		t.Errorf("got %d inputs, want all ten of the turn", a.Inputs)
	}
	for _, c := range []struct {
		most, want int
		more       bool
	}{{22, 22, false}, {21, 12, true}, {12, 12, true}, {11, 11, true}, {10, 1, true}, {1, 1, true}} {
		if a := w.chosen(t, outcomes.Filter{}, c.most); a.Inputs != c.want || a.More != c.more {
			t.Errorf("room for %d: got %d inputs, more %v, want %d and %v: turns are of 1, 10, 1 and 10", c.most, a.Inputs, a.More, c.want, c.more)
		}
	}
	if a := w.chosen(t, ofTurn, 5); a.Inputs != 10 || a.More {
		t.Errorf("a turn larger than a request, alone: got %d inputs, more %v, want it whole", a.Inputs, a.More)
	}
}

// TestABlankAnswerDoesNotPartATurn asks once more about a turn of which a half was answered by nothing at all since: what it
// said is replaced as a whole.
func TestABlankAnswerDoesNotPartATurn(t *testing.T) {
	t.Parallel()
	m := newMoody(say("first"))
	w := moodyWorld(t, m, nil, nil)
	w.use(t, "s", 4)
	w.settled(t)
	all, err := w.views.Outcomes(t.Context(), outcomes.Filter{Kind: events.KindToolUsed})
	if err != nil || len(all) != 4 {
		t.Fatalf("got %d, %v", len(all), err)
	}
	m.turn(providertest.Text(""))
	if _, err := w.actors.Do(t.Context(), claude("s"), session.Reobserve{ID: newID(), At: time.Now(), Inputs: []events.Position{all[0].Position}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is answered", func() bool { b := w.balance(t); return b.Skipped == 1 && b.Reobserve == 0 })
	if a := w.chosen(t, outcomes.Filter{Kind: events.KindToolUsed, Before: all[1].Position}, 0); a.Inputs != 4 {
		t.Errorf("got %d inputs, want the one of the blank answer with the others", a.Inputs)
	}
}

// TestAProviderThatIsFree foretells no tokens.
func TestAProviderThatIsFree(t *testing.T) {
	t.Parallel()
	m := newMoody(prose())
	w := moodyWorld(t, m, nil, func(c *testConfig) { c.Providers = []api.Provider{{Name: m.Name(), Free: true}} })
	w.use(t, "s", 30)
	w.settled(t)
	plan, err := api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Dropped: true, DryRun: true}, nil)
	if err != nil || plan.Tokens != 0 || plan.Bytes == 0 || plan.Turns != 2 || !strings.Contains(plan.Estimate, "nothing is sent") {
		t.Errorf("got %+v, %v, want no tokens, and one turn for all that is no stop", plan, err)
	}
}
