package server

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/gain"
	"github.com/cmemd/cmemd/projections/sessions"
	"github.com/cmemd/cmemd/projections/usage"
)

// TestGains: a row counts once a session, and a project's cost is that of all its sessions, also of those that were given nothing.
func TestGains(t *testing.T) {
	t.Parallel()
	in := func(name, project string) sessions.Session {
		return sessions.Session{ID: events.SessionIDOf("claude-code", name), Project: project, ProjectRoot: "/src/" + project}
	}
	one, two, silent, other := in("one", "shop"), in("two", "shop"), in("silent", "shop"), in("other", "bank")
	cart, note, at := newID(), newID(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	injected := []gain.Injected{
		{Session: one, Injections: 2, Characters: 400, Rows: []gain.Row{{ID: cart, At: at, Files: 2, Touched: []string{"b.go"}}, {ID: note, At: at, Asked: true}}},
		{Session: two, Injections: 1, Characters: 80, Rows: []gain.Row{{ID: cart, At: at.Add(time.Hour), Files: 2, Touched: []string{"a.go", "b.go"}}}},
		{Session: other, Injections: 1, Characters: 10, Rows: []gain.Row{{ID: note, At: at}}},
	}
	spent := func(s sessions.Session, n int64) usage.Group {
		return usage.Group{Key: usage.Key{Session: s.ID}, Models: []usage.Model{{Provider: "openai", Model: "known", Count: usage.Count{
			Turns: 1, Output: n, Unstated: events.Usage{Output: n},
		}}}}
	}
	stranger := in("of no session that is known", "shop")
	got := prices(priced).gainByProject(injected, []api.Session{one, two, silent, other}, []usage.Group{spent(one, 3), spent(silent, 4), spent(stranger, 9)})
	want := []api.ProjectGain{
		{Project: "shop", ProjectRoot: "/src/shop", Sessions: 2, Injections: 3, Characters: 480, Tokens: 120, Injected: 3, WithFiles: 2, Touched: 2, Asked: 1, Followed: 3,
			Observer: api.Spent{Count: usage.Count{Turns: 2, Output: 7, Unstated: events.Usage{Output: 7}}, USD: 70, EstimatedUSD: 70}},
		{Project: "bank", ProjectRoot: "/src/bank", Sessions: 1, Injections: 1, Characters: 10, Tokens: 2, Injected: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	rows := byRow(injected)
	if diff := cmp.Diff(&api.InjectedRow{ID: cart, Injected: 2, Followed: 2, Files: 2, Touched: []string{"b.go", "a.go", "b.go"}, LastAt: at.Add(time.Hour)}, rows[cart]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if n := rows[note]; n.Injected != 2 || n.Followed != 1 || n.Asked != 1 || len(rows) != 2 {
		t.Errorf("got %+v", n)
	}
}
