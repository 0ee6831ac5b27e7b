package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/sleep"
	"github.com/cmemd/cmemd/testkit/daemon"
)

const (
	among     = 5                     // the first results of a search that count
	lookEvery = 20 * time.Millisecond // whether all is settled
	longest   = time.Minute           // that settling one session may take
)

// measure takes a session in with a daemon of its own, and judges what it made of it.
func measure(ctx context.Context, binary, observer string, settings []string, s session) (measured, error) {
	by, end := begin(observer, s.facts)
	defer end()
	d, err := daemon.Start(ctx, binary, append(by, settings...))
	if err != nil {
		return measured{}, err
	}
	defer d.Stop()
	at, pending, err := takeIn(ctx, d.Client, s)
	if err != nil {
		return measured{}, err
	}
	rows, root, err := rowsOf(ctx, d.Client)
	if err != nil {
		return measured{}, err
	}
	m := measured{rows: len(rows), pending: pending}
	for _, words := range rows {
		m.rowTokens += tokensOf(words)
	}
	injected, err := api.ContextRoute.Call(ctx, d.Client, api.ContextQuery{Project: root, After: at})
	if err != nil {
		return measured{}, err
	}
	m.contextTokens = tokensOf(injected.Text)
	m.sentences, m.twice = repeated(injected.Text)
	for _, f := range s.facts {
		j := judged{fact: f, told: slices.ContainsFunc(strings.Split(injected.Text, "\n"), func(line string) bool { return holds(line, f.Must) })}
		for _, words := range rows {
			j.kept = j.kept || holds(words, f.Must)
		}
		if j.found, err = found(ctx, d.Client, f, rows, at); err != nil {
			return measured{}, err
		}
		m.facts = append(m.facts, j)
	}
	return m, nil
}

// takeIn captures a session's transcript, ends what it left unfinished, and waits until all of it is settled. It returns the
// position of the log at which that is so, and how many inputs are pending all the same.
func takeIn(ctx context.Context, c *client.Client, s session) (events.Position, int, error) {
	got, err := c.Ingest(ctx, s.Agent, s.path, bytes.NewReader(s.transcript))
	if err != nil {
		return 0, 0, err
	}
	if got.Captured == 0 || got.Malformed > 0 || len(got.Sessions) != 1 {
		return 0, 0, fmt.Errorf("the transcript was not understood: %d facts captured, %d lines malformed, %d sessions", got.Captured, got.Malformed, len(got.Sessions))
	}
	silent := api.SilentSession{Session: got.Sessions[0], Last: got.Last}
	if _, err := api.SettleRoute.Call(ctx, c, api.SettleRequest{Sessions: []api.SilentSession{silent}}); err != nil {
		return 0, 0, err
	}
	for began := time.Now(); ; {
		st, err := api.StatusRoute.Call(ctx, c, api.NoQuery{})
		if err != nil {
			return 0, 0, err
		}
		if st.Inputs.Pending == 0 && atRest(st) || time.Since(began) > longest {
			return st.Position, st.Inputs.Pending, nil
		}
		if err := sleep.For(ctx, lookEvery); err != nil {
			return 0, 0, err
		}
	}
}

// atRest reports whether nothing is captured that no view knows, and no turn is under way: a summary turn settles a stop that
// another one already counted.
func atRest(st api.Status) bool {
	behind := slices.ContainsFunc(st.Views, func(v api.ViewLag) bool { return v.Lag > 0 })
	return !behind && st.Inputs.Captured > 0 && st.Actors.Turns+st.Actors.Queued == 0
}

// rowsOf returns the words of every row by its id, and the root of the project that they are of.
func rowsOf(ctx context.Context, c *client.Client) (rows map[events.ID]string, root string, err error) {
	rows = map[events.ID]string{}
	err = c.ExportRows(ctx, api.ExportQuery{}, func(row api.Row) error {
		rows[row.ID], root = wordsOf(row), row.ProjectRoot
		return nil
	})
	return rows, root, err
}

// found reports whether one of the first results of a search by a fact's question holds it: with the rows that it stands for.
func found(ctx context.Context, c *client.Client, f fact, rows map[events.ID]string, at events.Position) (bool, error) {
	got, err := api.SearchRoute.Call(ctx, c, api.SearchQuery{Text: f.Question, Limit: among, After: at})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(got.Results, func(r api.Result) bool {
		text := wordsOf(r) + "\n" + rows[r.ID]
		for _, part := range r.Parts {
			text += "\n" + rows[part.ID]
		}
		return holds(text, f.Must)
	}), nil
}
