package erasure

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// history is two prompts of one session, the work of the first in two turns, a summary of it, another session, and memories.
func history(w *world) {
	one := w.open("one", "shop")
	w.say(one, events.ID{}, events.PromptSubmitted{Number: 1, Text: "first prompt"})
	a, b := w.tool(one, 1, "tool a"), w.tool(one, 1, "tool b")
	seen := w.observe(one, 1, []events.Position{a}, "obs a", "sibling of a")
	c := w.tool(one, 1, "tool c")
	seen = append(seen, w.observe(one, 1, []events.Position{b, c}, "obs b")...)
	stop := w.say(one, events.ID{}, events.AgentStopped{LastMessage: "last message", Work: 3, Prompt: 1})[0]
	w.summarise(one, 1, stop, seen, "summary")
	w.say(one, events.ID{}, events.PromptSubmitted{Number: 2, Text: "second prompt"})
	d := w.tool(one, 2, "tool d")
	w.observe(one, 2, []events.Position{d}, "obs d")
	two := w.open("two", "lib")
	w.observe(two, 0, []events.Position{w.tool(two, 0, "tool z")}, "obs z")
	first := w.save("note", events.MemorySaved{Project: "shop", ProjectRoot: "/src/shop"})
	fix := w.save("corrected note", events.MemorySaved{Project: "shop", ProjectRoot: "/src/shop", Session: "meeting"})
	w.say(events.Daemon, events.ID{}, events.MemorySuperseded{Memory: first, By: fix})
	w.save("other note", events.MemorySaved{Project: "lib", At: epoch.AddDate(0, 0, -3)})
}

// all is what is left of the history where nothing was forgotten, by the word that tells it.
func all() []string {
	return []string{
		"first prompt", "tool a", "tool b", "raw [obs a sibling of a]", "obs a", "sibling of a", "tool c", "raw [obs b]", "obs b",
		"last message", "raw summary", "summary", "second prompt", "tool d", "raw [obs d]", "obs d", "tool z", "raw [obs z]", "obs z",
		"note", "corrected note", "other note",
	}
}

// TestForget chooses by every condition, alone and together, and says what must be gone; all else must be there.
func TestForget(t *testing.T) {
	t.Parallel()
	episode := []string{"tool a", "raw [obs a sibling of a]", "obs a", "sibling of a", "raw summary", "summary"}
	sessionOne := []string{
		"first prompt", "tool a", "tool b", "raw [obs a sibling of a]", "obs a", "sibling of a", "tool c", "raw [obs b]", "obs b",
		"last message", "raw summary", "summary", "second prompt", "tool d", "raw [obs d]", "obs d",
	}
	tests := map[string]struct {
		req  func(w *world) Request
		gone []string
	}{
		"an observation goes with its inputs, its siblings, and the summary that read it; the stop with it, which nothing else knew": {
			func(w *world) Request { return Request{IDs: []events.ID{w.rows["obs a"]}} }, append(slices.Clone(episode), "last message"),
		},
		"the only work of a prompt takes the prompt with it": {
			func(w *world) Request { return Request{IDs: []events.ID{w.rows["obs d"]}} },
			[]string{"second prompt", "tool d", "raw [obs d]", "obs d"},
		},
		"a prompt goes with all its work": {
			func(w *world) Request { return Request{IDs: []events.ID{w.rows["second prompt"]}} },
			[]string{"second prompt", "tool d", "raw [obs d]", "obs d"},
		},
		"a summary goes with the last message, and leaves what it was written from": {
			func(w *world) Request { return Request{IDs: []events.ID{w.rows["summary"]}} },
			[]string{"last message", "raw summary", "summary"},
		},
		"a memory goes with its correction": {
			func(w *world) Request { return Request{IDs: []events.ID{w.rows["note"]}} }, []string{"note", "corrected note"},
		},
		"a correction goes with what it corrected": {
			func(w *world) Request { return Request{IDs: []events.ID{w.rows["corrected note"]}} }, []string{"note", "corrected note"},
		},
		"a text in a tool's output takes what was made of it": {
			func(*world) Request { return Request{Query: "TOOL  A"} }, episode,
		},
		"a text in an observation takes what was made of that, and leaves inputs that do not say it": {
			func(*world) Request { return Request{Query: "sibling"} }, episode[1:],
		},
		"a text in a prompt takes what was made for it": {
			func(*world) Request { return Request{Query: "first prompt"} },
			[]string{
				"first prompt", "raw [obs a sibling of a]", "obs a", "sibling of a", "raw [obs b]", "obs b", "raw summary", "summary",
			},
		},
		"a text that nothing holds": {func(*world) Request { return Request{Query: "tool q"} }, nil},
		"a session, whole": {
			func(*world) Request { return Request{Session: sessionOf("one"), Named: "one"} }, sessionOne,
		},
		"a session that only a saver named": {
			func(*world) Request { return Request{Named: "meeting"} }, []string{"corrected note"},
		},
		"a project by its name, saved memories with it": {
			func(*world) Request { return Request{Project: "shop"} }, append(slices.Clone(sessionOne), "note", "corrected note"),
		},
		"a project by its root": {
			func(*world) Request { return Request{Project: "/src/lib"} }, []string{"tool z", "raw [obs z]", "obs z"},
		},
		"a text in a project": {
			func(*world) Request { return Request{Project: "lib", Query: "tool"} }, []string{"tool z", "raw [obs z]", "obs z"},
		},
		"a text in another project": {func(*world) Request { return Request{Project: "lib", Query: "tool a"} }, nil},
		"a time in which a memory was true": {
			func(*world) Request { return Request{Until: epoch.Add(-time.Hour), Since: epoch.AddDate(0, 0, -4)} }, []string{"other note"},
		},
		"everything up to a time": { // captured, with what was made of it later
			func(w *world) Request { return Request{Project: "shop", Until: w.timeOf("tool b")} },
			[]string{
				"first prompt", "tool a", "tool b", "raw [obs a sibling of a]", "obs a", "sibling of a", "raw [obs b]", "obs b",
				"raw summary", "summary",
			},
		},
		"nothing of what was recorded later than the plan": {
			func(w *world) Request { return Request{Session: sessionOf("one"), Named: "one", Through: 2} },
			[]string{
				"first prompt", "raw [obs a sibling of a]", "obs a", "sibling of a", "raw [obs b]", "obs b", "raw summary", "summary",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			history(w)
			w.caughtUp()
			plan, err := w.Plan(t.Context(), tc.req(w))
			if err != nil {
				t.Fatal(err)
			}
			w.checkLeft(nil)
			done := w.forget(tc.req(w))
			w.checkLeft(tc.gone)
			w.verify()
			if plan.Records != len(tc.gone) || done.Records != len(tc.gone) {
				t.Errorf("planned %d, done %d, want %d", plan.Records, done.Records, len(tc.gone))
			}
			w.checkViews()
		})
	}
}

// timeOf is when what holds a word was said.
func (w *world) timeOf(word string) time.Time {
	for r, err := range w.log.All(context.Background(), 1) {
		if err != nil {
			w.tb.Fatal(err)
		}
		if e, err := r.Event(); err == nil && newWords(word).in(e) {
			return r.OccurredAt
		}
	}
	w.tb.Fatalf("nothing says %q", word)
	return time.Time{}
}

// checkLeft compares what is in the log with the whole history less what is gone.
func (w *world) checkLeft(gone []string) {
	w.tb.Helper()
	var want []string
	for _, word := range all() {
		if !slices.Contains(gone, word) {
			want = append(want, word)
		}
	}
	var got []string
	for _, said := range w.left() {
		best := ""
		for _, word := range all() {
			if strings.Contains(said, word) && len(word) > len(best) {
				best = word
			}
		}
		got = append(got, best)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.tb.Errorf("left in the log (-want +got):\n%s", diff)
	}
}

// checkViews holds that the views hold none of what is gone, and all that is not, and that the balance adds up.
func (w *world) checkViews() {
	w.tb.Helper()
	w.caughtUp()
	left := strings.Join(w.left(), "\n")
	for title, id := range w.rows {
		row, err := w.views.Row(context.Background(), id)
		gone := !strings.Contains(left, ": "+title)
		if err != nil || gone != row.Forgotten {
			w.tb.Errorf("%q: forgotten %t, %v; want %t", title, row.Forgotten, err, gone)
		}
	}
	b, err := w.views.Balance(context.Background())
	if err != nil || b.Captured != b.Observed+b.Skipped+b.Dropped+b.Pending+b.Forgotten || b.Captured != 6 {
		w.tb.Errorf("balance %+v, %v", b, err)
	}
}

// TestForgetRefuses what names nothing, or too much.
func TestForgetRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	history(w)
	w.caughtUp()
	for want, req := range map[error]Request{
		ErrNothingNamed: {Through: 3}, ErrShortQuery: {Query: " a "}, engine.ErrNotFound: {IDs: []events.ID{{9}}},
	} {
		if _, err := w.Plan(t.Context(), req); !errors.Is(err, want) {
			t.Errorf("Plan(%+v): %v, want %v", req, err, want)
		}
		if _, err := w.Forget(t.Context(), req, nil); !errors.Is(err, want) {
			t.Errorf("Forget(%+v): %v, want %v", req, err, want)
		}
	}
	w.checkLeft(nil)
	if w.purged.Load() != 0 {
		t.Errorf("files were made anew %d times", w.purged.Load())
	}
}

// TestPlan shows memory first, and what stays beside it.
func TestPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	history(w)
	w.caughtUp()
	p, err := w.Plan(t.Context(), Request{IDs: []events.ID{w.rows["obs a"]}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[events.Kind]int{
		events.KindToolUsed: 1, events.KindTurnReceived: 2, events.KindObservationParsed: 2, events.KindSummaryParsed: 1, events.KindAgentStopped: 1,
	}
	if diff := cmp.Diff(kinds, p.Kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	var sample, stays []string
	for _, s := range p.Sample {
		sample = append(sample, s.Text)
	}
	for _, s := range p.Stays {
		stays = append(stays, s.Text)
	}
	if diff := cmp.Diff([]string{"obs a", "sibling of a", "summary", `Bash {"command":"run"} tool a`, "last message"}, sample); diff != "" {
		t.Errorf("sample (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"first prompt", "obs b"}, stays); diff != "" || p.Kept != 2 {
		t.Errorf("%d stay (-want +got):\n%s", p.Kept, diff)
	}
	if len(p.Sessions) != 1 || p.Sessions[0].Session != sessionOf("one") || p.Sessions[0].Project != "shop" || p.Bytes == 0 {
		t.Errorf("sessions %+v, %d bytes", p.Sessions, p.Bytes)
	}
}

// TestForgetCutsTheTurnInFlight: what a turn would say of what is forgotten is never recorded, and the rest is asked again.
func TestForgetCutsTheTurnInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("one", "shop")
	a, b := w.tool(s, 0, "the secret"), w.tool(s, 0, "harmless")
	w.start(s, events.TurnObservation, 0, []events.Position{a, b})
	w.forget(Request{Query: "the secret"})
	w.verify()
	state := w.fold("one")
	if _, flying := state.InFlight(); flying {
		t.Error("the turn is in flight still")
	}
	if got := state.Balance(); got.Forgotten != 1 || got.Pending != 1 || !state.Owes() {
		t.Errorf("balance %+v, owes %t", got, state.Owes())
	}
	w.caughtUp()
	turns, err := w.views.LatestTurns(t.Context(), 1, 1, nil)
	if err != nil || len(turns) != 1 || turns[0].Failure != events.FailInterrupted {
		t.Errorf("turns %+v, %v", turns, err)
	}
}

// TestForgetLeavesAnotherTurnAlone does not cut a turn that was told nothing of it.
func TestForgetLeavesAnotherTurnAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("one", "shop")
	w.tool(s, 0, "the secret")
	turn := w.start(s, events.TurnObservation, 0, []events.Position{w.tool(s, 0, "harmless")})
	w.forget(Request{Query: "the secret"})
	if id, flying := w.fold("one").InFlight(); !flying || id != turn {
		t.Error("the turn was cut")
	}
}

// TestForgetTakesASummaryAndLeavesItsSession: of what a summary was told it takes no more than what is named, and another is owed.
func TestForgetTakesASummaryAndLeavesItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("one", "shop")
	var told, stops []events.Position
	for n, word := range []string{"first", "second", "third"} {
		told = append(told, w.say(s, events.ID{}, events.PromptSubmitted{Number: n + 1, Text: word + " prompt"})...)
		told = append(told, w.observe(s, n+1, []events.Position{w.tool(s, n+1, word+" tool")}, word)...)
		stops = append(stops, w.say(s, events.ID{}, events.AgentStopped{LastMessage: word + " message", Work: 1, Prompt: n + 1})...)
		w.summarise(s, n+1, stops[n], told, "summary of the "+word)
	}
	w.forget(Request{IDs: []events.ID{w.rows["second"]}})
	w.verify()
	want := []string{
		"first prompt", "first tool", "raw [first]", "first", "first message", "raw summary of the first", "summary of the first",
		"third prompt", "third tool", "raw [third]", "third", "third message",
	}
	var got []string
	for _, words := range w.left() {
		_, said, _ := strings.Cut(words, ": ")
		got = append(got, strings.TrimPrefix(said, "Bash {\"command\":\"run\"} "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	plan := session.Next(w.fold("one"), session.Rules{}, w.now)
	if plan.Turn == nil || plan.Turn.Kind != events.TurnSummary || !cmp.Equal(plan.Turn.Settles, stops[2:]) {
		t.Fatalf("owed: %+v, want a summary of the last stop", plan.Turn)
	}
	if diff := cmp.Diff([]events.Position{told[0], told[1], told[4], told[5]}, plan.Turn.Offers); diff != "" {
		t.Errorf("it is offered (-want +got):\n%s", diff)
	}
}
