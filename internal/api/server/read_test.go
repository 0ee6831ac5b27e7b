package server

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/rows"
)

func TestSaveAndFind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	at := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	saved, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{
		Project: "shop", Title: "Deploys", Text: "Deploys go out on Tuesdays <private>with root's password</private>", At: at,
		Session: "talk-7", Type: "decision", Concepts: []string{"deploy"}, Files: []string{"Makefile"},
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "tuesday deploy", Project: "shop", After: saved.Position})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Results) != 1 || found.Position < saved.Position {
		t.Fatalf("got %+v, want the memory at position %d", found, saved.Position)
	}
	r := found.Results[0]
	if r.ID != saved.ID || r.Kind != rows.Memory || r.Project != "shop" || r.Session != "talk-7" || !r.At.Equal(at) || r.Score <= 0 {
		t.Errorf("got %+v", r)
	}
	row, err := api.RowRoute.Call(t.Context(), w.client, api.RowQuery{ID: strings.ReplaceAll(saved.ID.String(), "-", "")[:20]})
	if err != nil || row.ID != saved.ID || strings.Contains(row.Text, "password") {
		t.Errorf("by the beginning of its id: got %+v, %v, want it without private text", row, err)
	}
	for _, q := range []api.SearchQuery{
		{Text: "deploy", Project: "other"}, {Text: "deploy", Kind: "summary"}, {Text: "deploy", Type: "bugfix"},
		{Text: "deploy", Since: at.Add(time.Hour)}, {Text: "deploy", Offset: 1}, {Text: "zebra"},
	} {
		if found, err := api.SearchRoute.Call(t.Context(), w.client, q); err != nil || found.Results == nil || len(found.Results) != 0 {
			t.Errorf("%+v: got %+v, %v, want an empty list", q, found, err)
		}
	}
}

// A search may name several kinds; a word that is none is told.
func TestSearchOfSeveralKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.post(t, hook("UserPromptSubmit", "s", map[string]any{"prompt": "deploy the shop", "prompt_id": newID().String()}))
	saved, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: "shop", Text: "deploys go out on Tuesdays"})
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]int{"": 2, "memory": 1, "summary,memory": 1, "prompt, memory": 2, "summary,observation": 0} {
		found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "deploy", Kind: kind, After: saved.Position})
		if err != nil || len(found.Results) != want {
			t.Errorf("kind %q: got %+v, %v, want %d", kind, found.Results, err, want)
		}
	}
	for _, kind := range []string{"thought", "memory,thought", "memory,"} {
		_, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Kind: kind})
		if p := problem(t, err); p.Status != 400 || len(p.Errors) != 1 || p.Errors[0].Pointer != "kind" {
			t.Errorf("kind %q: got %+v, want 400 at kind", kind, p)
		}
	}
}

func TestSaveIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, c := range []struct {
		name, body string
		pointers   []string
	}{
		{"nothing", `{}`, []string{"/text"}},
		{"blank", `{"text":" \n"}`, []string{"/text"}},
		{"all private", `{"text":"<private>x</private>"}`, []string{"/text"}},
		{"several", fmt.Sprintf(`{"text":"","title":%q,"at":"1600-01-01T00:00:00Z"}`, strings.Repeat("x", 501)), []string{"/title", "/text", "/at"}},
		{"another form", `{"text":7}`, []string{"/text"}},
		{"a list's form", `{"text":"x","files":"y"}`, []string{"/files"}},
		{"unknown field", `{"text":"x","txet":"y"}`, []string{"/txet"}},
		{"not JSON", `{"text":`, []string{""}},
		{"two values", `{"text":"x"}{}`, []string{""}},
		{"no time", `{"text":"x","at":"yesterday"}`, []string{""}},
		{"the future", `{"text":"x","at":"2199-01-01T00:00:00Z"}`, []string{"/at"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := w.client.Do(t.Context(), "POST", "/v1/memories", nil, nil, strings.NewReader(c.body))
			if err == nil {
				res.Body.Close()
			}
			p := problem(t, err)
			var got []string
			for _, e := range p.Errors {
				got = append(got, e.Pointer)
				if e.Detail == "" {
					t.Errorf("%s has no detail", e.Pointer)
				}
			}
			if diff := cmp.Diff(c.pointers, got); p.Status != 400 || diff != "" {
				t.Errorf("got %+v (-want +got):\n%s", p, diff)
			}
		})
	}
	if len(w.records(t)) != 0 {
		t.Error("something was recorded")
	}
}

func TestReadRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "one", "make the cart faster", "/src/shop/cart.go")
	w.work(t, "two", "fix the checkout", "/src/shop/checkout.go")
	w.settled(t)
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Kind: "observation"})
	if err != nil || len(found.Results) == 0 {
		t.Fatalf("got %+v, %v, want observations", found, err)
	}
	id := found.Results[0].ID
	for _, c := range []struct {
		name string
		test func(t *testing.T, w *world, id events.ID)
	}{
		{"why", readWhy},
		{"why of a summary", readWhyOfASummary},
		{"timeline", readTimeline},
		{"sessions", readSessions},
		{"one session", readOneSession},
		{"outcomes", readOutcomes},
		{"rows", readRows},
		{"row", readRow},
		{"context", readContext},
		{"release", readRelease},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, w, id) })
	}
}

func readWhy(t *testing.T, w *world, id events.ID) {
	why, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: id.String()})
	if err != nil {
		t.Fatal(err)
	}
	if why.Row.ID != id || len(why.Turns) == 0 || len(why.Turns[0].Inputs) == 0 || len(why.Prompts) == 0 || why.Session == nil {
		t.Fatalf("got %+v, want the whole chain", why)
	}
	in := why.Turns[0].Inputs[0]
	if in.Tool == "" || in.Preview == "" || strings.HasPrefix(in.Preview, in.Tool) || in.Outcome != "observed" || in.Read {
		t.Errorf("got input %+v", in)
	}
}

func readWhyOfASummary(t *testing.T, w *world, _ events.ID) {
	sums, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Kind: "summary"})
	if err != nil || len(sums.Results) == 0 {
		t.Fatalf("got %+v, %v, want summaries", sums, err)
	}
	why, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: sums.Results[0].ID.String()})
	if err != nil {
		t.Fatal(err)
	}
	ins := why.Turns[0].Inputs
	if last := ins[len(ins)-1]; !last.Read || last.Kind != events.KindObservationParsed || last.Preview == "" {
		t.Errorf("got %+v, want an observation that the turn read", last)
	}
}

func readTimeline(t *testing.T, w *world, id events.ID) {
	tl, err := api.TimelineRoute.Call(t.Context(), w.client, api.TimelineQuery{Anchor: id.String(), Before: 3, After: 3})
	if err != nil || tl.Anchor == nil || tl.Anchor.ID != id || len(tl.Before)+len(tl.After) == 0 {
		t.Errorf("got %+v, %v", tl, err)
	}
	tl, err = api.TimelineRoute.Call(t.Context(), w.client, api.TimelineQuery{Query: "checkout"})
	if err != nil || tl.Anchor == nil {
		t.Errorf("by a query: got %+v, %v", tl, err)
	}
	tl, err = api.TimelineRoute.Call(t.Context(), w.client, api.TimelineQuery{Anchor: time.Now().Add(time.Hour).Format(time.RFC3339)})
	if err != nil || tl.Anchor != nil || len(tl.Before) == 0 || tl.After == nil {
		t.Errorf("by a time: got %+v, %v", tl, err)
	}
	_, err = api.TimelineRoute.Call(t.Context(), w.client, api.TimelineQuery{})
	if p := problem(t, err); p.Status != 400 {
		t.Errorf("by nothing: got %+v, want 400", p)
	}
}

func readSessions(t *testing.T, w *world, _ events.ID) {
	for _, q := range []api.SessionsQuery{{}, {Project: "shop"}, {Project: "/src/shop"}, {Agent: "claude-code"}, {OpenOnly: true}} {
		if got, err := api.SessionsRoute.Call(t.Context(), w.client, q); err != nil || len(got.Sessions) != 2 || got.Position == 0 {
			t.Errorf("%+v: got %d, %v, want 2", q, len(got.Sessions), err)
		}
	}
	for _, q := range []api.SessionsQuery{{Project: "x"}, {Project: "/x"}, {Agent: "x"}, {Since: time.Now().Add(time.Hour)}} {
		if got, err := api.SessionsRoute.Call(t.Context(), w.client, q); err != nil || got.Sessions == nil || len(got.Sessions) != 0 {
			t.Errorf("%+v: got %+v, %v, want none", q, got, err)
		}
	}
	if got, err := api.SessionsRoute.Call(t.Context(), w.client, api.SessionsQuery{Project: "shop", Limit: 1}); err != nil || len(got.Sessions) != 1 {
		t.Errorf("got %d, %v, want 1", len(got.Sessions), err)
	}
}

func readOneSession(t *testing.T, w *world, _ events.ID) {
	ours := events.SessionIDOf("claude-code", "one")
	for _, name := range []string{"one", ours.String()} {
		got, err := api.SessionRoute.Call(t.Context(), w.client, api.IDQuery{ID: name})
		if err != nil || got.Session.ID != ours || len(got.Rows) == 0 || got.Session.Inputs.Observed == 0 {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	_, err := api.SessionRoute.Call(t.Context(), w.client, api.IDQuery{ID: "nobody's"})
	if p := problem(t, err); p.Status != 404 {
		t.Errorf("got %+v, want 404", p)
	}
}

func readOutcomes(t *testing.T, w *world, _ events.ID) {
	all, err := api.OutcomesRoute.Call(t.Context(), w.client, api.OutcomesQuery{})
	b := all.Balance
	if err != nil || len(all.Inputs) == 0 || b.Captured != b.Observed+b.Skipped+b.Dropped+b.Pending+b.Forgotten || b.Captured != len(all.Inputs) {
		t.Errorf("got %+v, %v", all, err)
	}
	one, err := api.OutcomesRoute.Call(t.Context(), w.client, api.OutcomesQuery{Session: "one", Outcome: "observed"})
	if err != nil || one.Balance.Captured == 0 || one.Balance.Captured >= b.Captured || len(one.Inputs) != one.Balance.Observed {
		t.Errorf("of one session: got %+v, %v", one, err)
	}
	_, err = api.OutcomesRoute.Call(t.Context(), w.client, api.OutcomesQuery{Outcome: "lost"})
	if p := problem(t, err); p.Errors[0].Pointer != "outcome" {
		t.Errorf("got %+v, want a word about outcome", p)
	}
}

func readRows(t *testing.T, w *world, id events.ID) {
	unknown := newID().String()
	rows, err := api.RowsRoute.Call(t.Context(), w.client, api.RowsRequest{IDs: []string{id.String(), unknown}})
	if err != nil || len(rows.Rows) != 1 || !cmp.Equal(rows.Missing, []string{unknown}) {
		t.Errorf("got %+v, %v", rows, err)
	}
	for _, ids := range [][]string{nil, {"short"}} {
		if _, err := api.RowsRoute.Call(t.Context(), w.client, api.RowsRequest{IDs: ids}); problem(t, err).Status != 400 {
			t.Errorf("%v: got %v, want 400", ids, err)
		}
	}
}

func readRow(t *testing.T, w *world, id events.ID) {
	for name, status := range map[string]int{newID().String(): 404, "xyz": 400, "0123": 400} {
		if _, err := api.RowRoute.Call(t.Context(), w.client, api.RowQuery{ID: name}); problem(t, err).Status != status {
			t.Errorf("%s: got %v, want %d", name, err, status)
		}
	}
	_, err := api.RowRoute.Call(t.Context(), w.client, api.RowQuery{ID: id.String()[:8]})
	if p := problem(t, err); p.Status != 409 || len(p.Errors) < 2 || p.Type != api.ProblemAmbiguous {
		t.Errorf("got %+v, want the rows it may be", p)
	}
}

func readContext(t *testing.T, w *world, _ events.ID) {
	for _, q := range []api.ContextQuery{{Project: "shop"}, {Project: "/src/shop"}, {Cwd: "/src/shop"}, {Session: "one"}} {
		q.Explain = true
		got, err := api.ContextRoute.Call(t.Context(), w.client, q)
		if err != nil || !strings.Contains(got.Text, "checkout") || len(got.IDs) == 0 || len(got.Explain) == 0 || got.Project == "" {
			t.Errorf("%+v: got %+v, %v", q, got, err)
		}
	}
	if got, err := api.ContextRoute.Call(t.Context(), w.client, api.ContextQuery{Project: "unknown"}); err != nil || got.Text != "" || got.IDs == nil || got.Explain != nil {
		t.Errorf("got %+v, %v, want nothing", got, err)
	}
	for _, q := range []api.ContextQuery{{}, {Cwd: "rel"}, {Project: "shop", Source: "x"}} {
		if _, err := api.ContextRoute.Call(t.Context(), w.client, q); problem(t, err).Status != 400 {
			t.Errorf("%+v: got %v, want 400", q, err)
		}
	}
	if len(w.injections(t)) != 0 {
		t.Error("looking is on record as giving")
	}
}

func readRelease(t *testing.T, w *world, _ events.ID) {
	_, err := api.ReleaseRoute.Call(t.Context(), w.client, api.IDQuery{ID: "one"})
	if p := problem(t, err); p.Status != 409 || p.Type != api.ProblemConflict {
		t.Errorf("got %+v, want 409: it is free", p)
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *testConfig) { c.WaitTimeout = 50 * time.Millisecond })
	saved, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{After: saved.Position + 1})
	if p := problem(t, err); p.Status != 400 || p.Errors[0].Pointer != "after" {
		t.Errorf("behind the log's end: got %+v, want 400", p)
	}
	behind := newWorld(t, func(c *testConfig) {
		c.WaitTimeout = 50 * time.Millisecond
		c.swap = func(s *Server) { s.sources.watermark = stuck{new(atomic.Int64)} }
	})
	if saved, err = api.SaveRoute.Call(t.Context(), behind.client, api.Memory{Text: "x"}); err != nil {
		t.Fatal(err)
	}
	_, err = api.SearchRoute.Call(t.Context(), behind.client, api.SearchQuery{After: saved.Position})
	if p := problem(t, err); p.Status != 503 || p.Type != api.ProblemBehind {
		t.Errorf("views that stand still: got %+v, want 503", p)
	}
}

// TestAnswersKnowWhatWasAccepted: who asks finds what they wrote just before, though the views gather what comes for a tenth of a second;
// views that stand still are answered from as they are.
func TestAnswersKnowWhatWasAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 10 {
		name := fmt.Sprintf("s%d", i)
		if _, err := w.client.Hook(t.Context(), "claude-code", toolUse(name, "t1", "ls", "a b"), newID(), time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := api.SessionRoute.Call(t.Context(), w.client, api.IDQuery{ID: name}); err != nil {
			t.Errorf("session %s, whose tool use was accepted before: %v", name, err)
		}
	}
	asked := newWorld(t, nil)
	for i := range 10 {
		prompt := hook("UserPromptSubmit", "s", map[string]any{"prompt": fmt.Sprintf("Do number %d of the things", i)})
		if _, err := asked.client.Hook(t.Context(), "claude-code", prompt, newID(), time.Time{}); err != nil {
			t.Fatal(err)
		}
		handle := fmt.Sprintf("m%d", i+2) // behind the session's own record
		rows, err := api.RowsRoute.Call(t.Context(), asked.client, api.RowsRequest{IDs: []string{handle}})
		if err != nil || len(rows.Rows) != 1 {
			t.Errorf("prompt %s, which was accepted before: %v, %v", handle, rows.Missing, err)
		}
	}
	waits := new(atomic.Int64)
	behind := newWorld(t, func(c *testConfig) { c.swap = func(s *Server) { s.sources.watermark = stuck{waits} } })
	if _, err := api.SaveRoute.Call(t.Context(), behind.client, api.Memory{Text: "x"}); err != nil {
		t.Fatal(err)
	}
	waits.Store(0)
	if _, err := api.ReadyRoute.Call(t.Context(), behind.client, api.ReadyQuery{Always: true}); err != nil || waits.Load() > 0 {
		t.Errorf("whether the daemon is ready, which no view knows: %v, and %d waits for the views", err, waits.Load())
	}
	if _, err := api.SearchRoute.Call(t.Context(), behind.client, api.SearchQuery{Text: "x"}); err != nil {
		t.Errorf("views that stand still, and no position that must be known: %v", err)
	}
}

// stuck knows nothing, and never will.
type stuck struct{ waits *atomic.Int64 } // that were begun

func (stuck) Position() events.Position { return 0 }

func (s stuck) Wait(ctx context.Context, _ events.Position) error {
	s.waits.Add(1)
	<-ctx.Done()
	return ctx.Err()
}
