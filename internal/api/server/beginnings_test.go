package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/api"
)

// alike are two names of sessions whose ids begin with the same eight digits.
func alike(t *testing.T) (a, b string) {
	t.Helper()
	seen := map[[4]byte]string{}
	for n := range 1_000_000 {
		name := fmt.Sprintf("session-%d", n)
		id := claude(name)
		begins := [4]byte(id[:4])
		if other, ok := seen[begins]; ok {
			return other, name
		}
		seen[begins] = name
	}
	t.Fatal("no two of a million ids begin alike")
	return "", ""
}

// TestBeginningsOfSessions names sessions by the beginnings of their ids, wherever a session is named.
func TestBeginningsOfSessions(t *testing.T) {
	t.Parallel()
	m := newMoody(say("seen"))
	w := moodyWorld(t, m, nil, nil)
	one, two := alike(t)
	for _, name := range []string{one, two, "alone"} {
		w.use(t, name, 1)
	}
	if _, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: "shop", Text: "seen by hand", Session: "my notes"}); err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	full, other := claude(one).String(), claude(two).String()
	search := func(session string) (int, error) {
		found, err := api.SearchRoute.Call(t.Context(), w.client, api.SearchQuery{Text: "seen", Session: session})
		return len(found.Results), err
	}
	outcomes := func(session string) (int, error) {
		found, err := api.OutcomesRoute.Call(t.Context(), w.client, api.OutcomesQuery{Session: session})
		return len(found.Inputs), err
	}
	reobserve := func(session string) (int, error) {
		plan, err := api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Session: session, DryRun: true}, nil)
		return plan.Inputs, err
	}
	show := func(session string) (int, error) {
		found, err := api.SessionRoute.Call(t.Context(), w.client, api.IDQuery{ID: session})
		return len(found.Rows), err
	}
	for what, ask := range map[string]func(string) (int, error){"search": search, "outcomes": outcomes, "reobserve": reobserve, "session": show} {
		for _, name := range []string{full, strings.ToUpper(full), one, claude("alone").String()[:8], "alone"} {
			if n, err := ask(name); err != nil || n != 2 {
				t.Errorf("%s of %s: got %d, %v, want both of its own", what, name, n, err)
			}
		}
		_, err := ask(full[:8])
		if p := problem(t, err); p.Status != 409 || p.Type != api.ProblemAmbiguous || len(p.Errors) != 2 || p.Errors[0].Pointer != "session" ||
			!strings.Contains(fmt.Sprint(p.Errors), full) || !strings.Contains(fmt.Sprint(p.Errors), other) {
			t.Errorf("%s of %s: got %+v, want both that it may be", what, full[:8], p)
		}
	}
	for name, want := range map[string]int{"my notes": 1, "nobody's": 0, "abcdef99": 0, full[:7]: 0} {
		if n, err := search(name); err != nil || n != want {
			t.Errorf("search of %s: got %d, %v, want %d", name, n, err, want)
		}
	}
}

// TestBeginningsOfTurns names turns by the beginnings of their ids: those of one moment begin alike.
func TestBeginningsOfTurns(t *testing.T) {
	t.Parallel()
	w := moodyWorld(t, newMoody(prose()), nil, nil)
	w.use(t, "s", 1)
	w.settled(t)
	turns, err := w.views.LatestTurns(t.Context(), 10, 10, nil)
	if err != nil || len(turns) < 2 {
		t.Fatalf("got %+v, %v", turns, err)
	}
	begins := turns[0].ID.String()[:8]
	for what, ask := range map[string]func() error{
		"reobserve": func() error {
			_, err := api.ReobserveRoute.Call(t.Context(), w.client, api.ReobserveRequest{Turn: begins, DryRun: true}, nil)
			return err
		},
		"outcomes": func() error {
			_, err := api.OutcomesRoute.Call(t.Context(), w.client, api.OutcomesQuery{Turn: begins})
			return err
		},
	} {
		p := problem(t, ask())
		if p.Status != 409 || p.Type != api.ProblemAmbiguous || len(p.Errors) != len(turns) || p.Errors[0].Pointer != "turn" {
			t.Errorf("%s: got %+v, want the %d turns that it may be", what, p, len(turns))
		}
	}
}
