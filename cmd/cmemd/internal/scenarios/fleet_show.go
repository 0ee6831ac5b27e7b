package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/sleep"
)

// fact is one thing that an agent reported. Who reports it again has the same key.
type fact struct {
	session events.StreamID
	key     events.Key
}

// known is what one machine has of all sessions: how often each fact is there, and how many are its own.
type known map[fact]int

// read reads what a machine has, by its own order of all logs.
func (d *stage) read(ctx context.Context) (known, error) {
	have, q := known{}, api.RecordsQuery{Limit: 1000}
	for {
		page, err := api.RecordsRoute.Call(ctx, d.client, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Records {
			if r.IsInput() {
				have[fact{r.Stream, r.Key}]++
			}
		}
		if page.NextCursor.IsZero() {
			return have, nil
		}
		q = api.RecordsQuery{Cursor: page.NextCursor, Limit: q.Limit}
	}
}

// balance counts what machines have of all that was accepted anywhere.
type balance struct{ accepted, missing, twice int }

func balanceOf(all []known) (b balance) {
	everywhere := map[fact]bool{}
	for _, have := range all {
		for one := range have {
			everywhere[one] = true
		}
	}
	b.accepted = len(everywhere)
	for _, have := range all {
		b.missing += len(everywhere) - len(have)
		for _, n := range have {
			b.twice += n - 1
		}
	}
	return b
}

// agree waits until every machine has what was accepted on any, and says how that was counted.
func (f *fleet) agree(ctx context.Context) error {
	sent := 0
	for _, m := range f.machines {
		sent += m.sent()
	}
	all := make([]known, len(f.machines))
	var b balance
	limit := time.Now().Add(fleetWait)
	for {
		var failed error
		for i, m := range f.machines {
			var err error
			all[i], err = m.read(ctx)
			failed = cmp.Or(failed, err)
		}
		b = balanceOf(all)
		if failed == nil && b == (balance{accepted: sent}) {
			break
		}
		if ctx.Err() != nil || time.Now().After(limit) {
			wrong := fmt.Errorf("of %d inputs that hooks sent %d were accepted, %d are missing somewhere, and %d are there twice",
				sent, b.accepted, b.missing, b.twice)
			return cmp.Or(ctx.Err(), failed, wrong)
		}
		_ = sleep.For(ctx, 100*time.Millisecond)
	}
	f.announce("the balance: %d inputs accepted on %d machines; %d missing, %d twice", b.accepted, len(all), b.missing, b.twice)
	for i, m := range f.machines {
		f.printDetail("%-8s sent %d, has %d", m.name, m.sent(), len(all[i]))
	}
	return nil
}

// show lists what each machine knows of the others' memory, and asks one for what another did.
func (f *fleet) show(ctx context.Context) error {
	f.announce("what each machine knows")
	for _, m := range f.machines {
		if err := f.showSessions(ctx, m); err != nil {
			return err
		}
	}
	for _, of := range f.machines[1:] {
		if err := f.findOn(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// findOn asks the first machine what an agent did on another one.
func (f *fleet) findOn(ctx context.Context, of *stage) error {
	const words = "why was a refused delivery retried"
	q := api.SearchQuery{Text: words, Session: of.session, Limit: 3}
	var found api.SearchResults
	err := f.until(ctx, fleetWait, "a search on "+f.name+" to find what was done on "+of.name, func() bool {
		var err error
		found, err = api.SearchRoute.Call(ctx, f.client, q)
		return err == nil && len(found.Results) > 0 && found.Results[0].Handle.Machine == of.name
	})
	if err != nil {
		return err
	}
	f.announce("on %s: cmemd search %s --session %s", f.name, words, of.session)
	for _, r := range found.Results {
		f.printDetail("%-12s  %-11s  %s", r.Handle, r.Kind, r.Title)
	}
	return nil
}

// showSessions lists the sessions that a machine knows, once its views have all of them.
func (f *fleet) showSessions(ctx context.Context, m *stage) error {
	var there api.Sessions
	err := m.until(ctx, fleetWait, m.name+" to know every session", func() bool {
		var err error
		there, err = api.SessionsRoute.Call(ctx, m.client, api.SessionsQuery{Limit: 50})
		return err == nil && len(there.Sessions) == len(f.machines)
	})
	if err != nil {
		return err
	}
	for _, s := range there.Sessions {
		f.printDetail("%-8s  a session of %-8s  %d inputs, %d observations", m.name, cmp.Or(s.Machine, m.name), s.ToolUses+s.Stops, s.Observations)
	}
	return nil
}
