package server

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/socket"
)

// erasing gives a world an eraser whose state is in its home.
func erasing(c *testConfig) {
	system := c.System
	c.Eraser = erasure.New(erasure.Config{
		Log: c.Log, Views: c.Views, State: filepath.Join(c.Home, "forget.json"),
		Do: func(ctx context.Context, id events.SessionID, cmds ...session.Command) (events.Position, error) {
			receipt, err := system.Do(ctx, id, cmds...)
			return receipt.Position, err
		},
		Files: []erasure.Files{{Name: "index", Purge: func(ctx context.Context, upTo events.Position) error {
			if err := c.Index.Wait(ctx, upTo); err != nil {
				return err
			}
			return c.Index.Purge(ctx)
		}}},
	})
}

// TestForgetOverTheWire plans, forgets by a text, and leaves the balance and the log sound.
func TestForgetOverTheWire(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "one", "tell nobody about xyzzy", "/src/shop/cart.go")
	w.work(t, "two", "something else", "/src/shop/menu.go")
	w.settled(t)
	plan, err := api.ForgetPlanRoute.Call(t.Context(), w.client, api.ForgetRequest{Query: "XYZZY"}.Plan(), nil)
	if err != nil || plan.Kinds[events.KindPromptSubmitted] != 1 || plan.Records < 4 || len(plan.Sample) == 0 || len(plan.Sessions) != 1 {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	if n := w.count(t, events.KindMemoryForgotten); n != 0 {
		t.Fatalf("a plan forgot %d times", n)
	}
	steps := 0
	done, err := api.ForgetRoute.Call(t.Context(), w.client, api.ForgetRequest{Query: "xyzzy", Through: plan.Position}, func(api.Progress) { steps++ })
	if err != nil || done.Records != plan.Records || done.Sessions != 1 || steps == 0 {
		t.Fatalf("done %+v after %d steps, %v; planned %d", done, steps, err, plan.Records)
	}
	w.settled(t)
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "xyzzy"})
	if err != nil || len(found.Results) != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := api.VerifyRoute.Call(t.Context(), w.client, api.NoQuery{}, nil); err != nil {
		t.Errorf("verify: %v", err)
	}
	st, err := api.StatusRoute.Call(t.Context(), w.client, api.NoQuery{})
	if in := st.Inputs; err != nil || in.Captured != 6 || in.Forgotten == 0 || in.Forgotten == 6 || st.Erasure == nil || st.Erasure.Unfinished {
		t.Errorf("inputs %+v, erasure %+v, %v", st.Inputs, st.Erasure, err)
	}
}

func TestForgetRefusesOverTheWire(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for name, q := range map[string]api.ForgetRequest{
		"nothing named": {}, "a short text": {Query: "ab"}, "no id": {IDs: []string{"zz"}}, "too many": {IDs: make([]string, api.MaxRows+1)},
	} {
		if _, err := api.ForgetPlanRoute.Call(t.Context(), w.client, q.Plan(), nil); problem(t, err).Status != http.StatusBadRequest {
			t.Errorf("%s: %v, want 400", name, err)
		}
		if _, err := api.ForgetRoute.Call(t.Context(), w.client, q, nil); problem(t, err).Status != http.StatusBadRequest {
			t.Errorf("%s: %v, want 400", name, err)
		}
	}
	if _, err := api.ForgetPlanRoute.Call(t.Context(), w.client, api.ForgetRequest{IDs: []string{newID().String()}}.Plan(), nil); problem(t, err).Status != http.StatusNotFound {
		t.Errorf("an unknown id: %v, want 404", err)
	}
}

// TestForgetBesideTheLog deletes what hooks kept and what was put aside, by every condition that can be told of it.
func TestForgetBesideTheLog(t *testing.T) {
	t.Parallel()
	home := socket.Dir(t)
	if err := spool.LayKey(home, time.Now()); err != nil {
		t.Fatal(err)
	}
	waiting := spool.New(home)
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	put := func(word, session, cwd string, later time.Duration) {
		t.Helper()
		name, err := waiting.Put(spool.Entry{
			Agent: "claude-code", Delivery: newID().String(), OccurredAt: at.Add(later),
			Body: hook("PostToolUse", session, map[string]any{"word": word, "cwd": cwd}),
		})
		if err == nil {
			err = waiting.DeadLetter(name, "for the test")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	project := t.TempDir()
	for _, file := range []string{"HEAD", "objects/info/packs", "refs/heads/main"} {
		capturetest.WriteFile(t, filepath.Join(project, ".git", file), []byte("ref: refs/heads/main\n"))
	}
	capturetest.WriteFile(t, filepath.Join(project, "cart", "cart.go"), nil)
	put("secret words", "one", "/elsewhere", 0)
	put("harmless", "session-two", "/elsewhere", time.Hour)
	put("harmless", "three", project, 2*time.Hour)
	put("harmless", "four", "/elsewhere", 3*time.Hour)
	if err := os.WriteFile(filepath.Join(home, "spool", "bad", "broken"), []byte("no entry, but secret\nwords"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *testConfig) {
		c.Spool, c.Home = waiting, home
		erasing(c)
	})
	w.work(t, "session-two", "look", "/src/shop/cart.go")
	w.settled(t)
	of := w.server.memories.forgetter
	for _, step := range []struct {
		name string
		req  api.ForgetRequest
		want int
	}{
		{"a text in another project", api.ForgetRequest{Query: "secret words", Project: project}, 0},
		{"a text, in what is broken too", api.ForgetRequest{Query: "Secret Words"}, 2},
		{"a session that is not known", api.ForgetRequest{Session: "three"}, 0},
		{"a session", api.ForgetRequest{Session: "session-two"}, 1},
		{"a folder of a project", api.ForgetRequest{Project: filepath.Join(project, "cart")}, 1},
		{"a time before", api.ForgetRequest{Until: at.Add(2 * time.Hour)}, 0},
		{"a time", api.ForgetRequest{Since: at.Add(3 * time.Hour), Until: at.Add(3 * time.Hour)}, 1},
	} {
		req, err := w.server.memories.chosenToForget(t.Context(), step.req)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := of.Spooled(t.Context(), erasure.Request{IDs: []events.ID{newID()}, Query: step.req.Query}, true); err != nil || n.Chosen != 0 {
			t.Errorf("ids name %d files, %v", n.Chosen, err)
		}
		planned, err := of.Spooled(t.Context(), req, false)
		if err != nil || planned.Chosen != step.want {
			t.Errorf("%s: planned %d, %v, want %d", step.name, planned.Chosen, err, step.want)
		}
		if n, err := of.Spooled(t.Context(), req, true); err != nil || n.Chosen != step.want {
			t.Errorf("%s: deleted %d, %v, want %d", step.name, n.Chosen, err, step.want)
		}
	}
	if left, err := os.ReadDir(filepath.Join(home, "spool", "bad")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestCorrectAndUndo follows a memory through corrections, and looks at every step whether it is listed.
func TestCorrectAndUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := t.Context()
	save := func(text, supersedes string) (api.Saved, error) {
		return api.SaveRoute.Call(ctx, w.client, api.Memory{Text: text, Supersedes: supersedes, Project: map[bool]string{true: "shop"}[supersedes == ""]})
	}
	listed := func(ids ...events.ID) (out []bool) {
		w.settled(t)
		for _, id := range ids {
			row, err := w.views.Row(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, row.Listed())
		}
		return out
	}
	first, err := save("first", "")
	if err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	second, err := save("second", first.ID.String())
	if err != nil || !slices.Equal(second.Superseded, []events.ID{first.ID}) {
		t.Fatalf("%+v, %v", second, err)
	}
	if row, err := api.RowRoute.Call(ctx, w.client, api.RowQuery{ID: second.ID.String()}); err != nil || row.Project != "shop" {
		t.Errorf("the correction is of %q, %v", row.Project, err)
	}
	if _, err := save("third", first.ID.String()); problem(t, err).Status != http.StatusConflict {
		t.Errorf("correcting what was corrected: %v", err)
	}
	if got := listed(first.ID, second.ID); !cmp.Equal(got, []bool{false, true}) {
		t.Errorf("after the correction: %v", got)
	}
	for i, want := range [][]bool{{true, false}, {false, true}, {true, false}} {
		if _, err := api.UndoRoute.Call(ctx, w.client, api.IDQuery{ID: second.ID.String()}); err != nil {
			t.Fatalf("undo %d: %v", i, err)
		}
		if row, err := api.RowRoute.Call(ctx, w.client, api.RowQuery{ID: first.ID.String()}); err != nil || row.Superseded == want[0] {
			t.Errorf("whoever asks after undo %d is answered as before it: %+v, %v", i, row, err)
		}
		if got := listed(first.ID, second.ID); !cmp.Equal(got, want) {
			t.Errorf("after undo %d: %v, want %v", i, got, want)
		}
	}
	if _, err := save("on what was taken back", second.ID.String()); problem(t, err).Status != http.StatusConflict {
		t.Errorf("correcting what was taken back: %v", err)
	}
	w.work(t, "one", "a prompt", "/src/shop/cart.go")
	w.settled(t)
	prompts, err := api.SearchRoute.Call(ctx, w.client, api.SearchQuery{Kind: string(rows.Prompt)})
	if err != nil || len(prompts.Results) == 0 {
		t.Fatal(prompts, err)
	}
	id := prompts.Results[0].ID.String()
	if _, err := save("x", id); problem(t, err).Status != http.StatusConflict {
		t.Errorf("correcting a prompt: %v", err)
	}
	if _, err := api.UndoRoute.Call(ctx, w.client, api.IDQuery{ID: id}); problem(t, err).Status != http.StatusConflict {
		t.Errorf("undoing a prompt: %v", err)
	}
	if _, err := api.UndoRoute.Call(ctx, w.client, api.IDQuery{ID: newID().String()}); problem(t, err).Status != http.StatusNotFound {
		t.Errorf("undoing nothing: %v", err)
	}
	checkWhyAfter(t, w, first.ID, second.ID)
}

// checkWhyAfter looks at the history of a memory and of its correction, now and before.
func checkWhyAfter(t *testing.T, w *world, first, second events.ID) {
	t.Helper()
	why, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: first.String()})
	var what []string
	for _, a := range why.After {
		what = append(what, a.What)
	}
	if want := []string{"superseded", "restored", "superseded", "restored"}; err != nil || !cmp.Equal(what, want) {
		t.Errorf("after: %v, %v; want %v", what, err, want)
	}
	for i, a := range why.After {
		then, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: first.String(), AsOf: api.Moment{Position: a.Position}})
		if err != nil || then.Row.Superseded != (i%2 == 0) || len(then.After) != i+1 {
			t.Errorf("as of %d: superseded %t, %d later things, %v", a.Position, then.Row.Superseded, len(then.After), err)
		}
	}
	if _, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: second.String(), AsOf: api.Moment{Position: 1}}); problem(t, err).Status != http.StatusNotFound {
		t.Errorf("before it was recorded: %v, want 404", err)
	}
	now, err := api.WhyRoute.Call(t.Context(), w.client, api.WhyQuery{ID: first.String(), AsOf: api.Moment{Time: time.Now().Add(time.Hour)}})
	if err != nil || len(now.After) != 4 {
		t.Errorf("as of the future: %d later things, %v", len(now.After), err)
	}
}

// TestInputsOverTheWire pages through what an observation was made of.
func TestInputsOverTheWire(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "one", "a prompt", "/src/shop/cart.go")
	w.settled(t)
	found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Kind: string(rows.Observation)})
	if err != nil || len(found.Results) == 0 {
		t.Fatal(found, err)
	}
	id := found.Results[0].ID.String()
	var outputs []string
	after, pages := events.Position(0), 0
	for {
		page, err := api.InputsRoute.Call(t.Context(), w.client, api.InputsQuery{ID: id, After: after, Limit: 1})
		if err != nil || page.Total != 2 || len(page.Inputs) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		pages++
		outputs = append(outputs, page.Inputs[0].Output)
		if after = page.Next; after == 0 {
			break
		}
	}
	if pages != 2 || outputs[1] == "" {
		t.Errorf("%d pages: %q", pages, outputs)
	}
	if _, err := api.InputsRoute.Call(t.Context(), w.client, api.InputsQuery{ID: id, Limit: 501}); problem(t, err).Status != http.StatusBadRequest {
		t.Errorf("too many: %v", err)
	}
}

// TestRequestsNeedSomebodyToAnswer: where no command is a person's, nothing is hidden for a person to decide about.
func TestRequestsNeedSomebodyToAnswer(t *testing.T) {
	t.Parallel()
	if err := answerable(true); err != nil {
		t.Errorf("where a person's command is known: %v", err)
	}
	var refused *api.Problem
	if err := answerable(false); !errors.As(err, &refused) || refused.Status != http.StatusForbidden || !strings.Contains(refused.Detail, "nobody can do it here") {
		t.Errorf("where none is: %v", err)
	}
}
