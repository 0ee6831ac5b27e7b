package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/daemon"
)

const (
	loaders       = 16       // documents saved at once
	askers        = 2        // questions asked at once
	maxResults    = 20       // results of a question
	maxText       = 64 << 10 // bytes of a memory that the API takes
	maxQueryBytes = 4000     // bytes of a question that the API takes
)

// meter shows how far the work has come.
type meter struct {
	w  io.Writer
	on bool
}

func (m meter) bar(what string, total int) *progressbar.ProgressBar {
	if !m.on {
		return progressbar.DefaultSilent(int64(total))
	}
	return progressbar.NewOptions(total, progressbar.OptionSetWriter(m.w), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
}

// measure saves docs with a daemon of its own, asks queries, and says what was found. With vectors it waits until all docs have
// one, and a question that is answered without is an error.
func measure(ctx context.Context, binary string, docs []doc, queries []query, by meaning, m meter) (result, error) {
	settings, end := by.begin(docs)
	defer end()
	binary, remove, err := daemon.Program(ctx, binary)
	if err != nil {
		return result{}, err
	}
	defer remove()
	d, err := daemon.Start(ctx, binary, settings)
	if err != nil {
		return result{}, err
	}
	defer d.Stop()
	names, last, err := save(ctx, d.Client, docs, m)
	if err == nil && by.used() {
		err = filled(ctx, d.Client, len(docs), m)
	}
	if err != nil {
		return result{}, err
	}
	answers := make([]answer, len(queries))
	bar := m.bar("asking", len(queries))
	err = each(ctx, askers, len(queries), func(i int) error {
		found, err := ask(ctx, d.Client, queries[i], last, by.used())
		answers[i] = answer{query: queries[i], found: named(found, names)}
		_ = bar.Add(1) // a display only
		return err
	})
	if err != nil {
		return result{}, err
	}
	r := score(answers, len(docs))
	r.Embeddings = by.says()
	return r, nil
}

// save stores docs, those of one session one after the other, and returns what each memory's id stands for.
func save(ctx context.Context, c *client.Client, docs []doc, m meter) (map[events.ID]string, events.Position, error) {
	var mu sync.Mutex // guards names and last
	names, last := make(map[events.ID]string, len(docs)), events.Position(0)
	bar := m.bar("saving", len(docs))
	sessions := bySession(docs)
	err := each(ctx, loaders, len(sessions), func(i int) error {
		for _, d := range sessions[i] {
			saved, err := api.SaveRoute.Call(ctx, c, api.Memory{Project: d.Scope, Text: cut(d.Text, maxText), At: d.at, Session: d.Session})
			if err != nil {
				return fmt.Errorf("save %s: %w", d.ID, err)
			}
			mu.Lock()
			names[saved.ID], last = d.ID, max(last, saved.Position)
			mu.Unlock()
			_ = bar.Add(1) // a display only
		}
		return nil
	})
	return names, last, err
}

// bySession returns docs by their sessions, in their order; one without a session stands alone.
func bySession(docs []doc) (out [][]doc) {
	at := map[string]int{}
	for _, d := range docs {
		key := d.Scope + "\x00" + d.Session
		i, ok := at[key]
		if !ok || d.Session == "" {
			i = len(out)
			at[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], d)
	}
	return out
}

// ask returns what a question finds, best first. Near: vectors must have been looked at.
func ask(ctx context.Context, c *client.Client, q query, after events.Position, near bool) ([]events.ID, error) {
	found, err := api.SearchRoute.Call(ctx, c, api.SearchQuery{Text: cut(q.Q, maxQueryBytes), Project: q.Scope, Limit: maxResults, After: after})
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", q.ID, err)
	}
	if near != found.Near {
		return nil, fmt.Errorf("ask %s: looked at vectors: %t, want %t: %s", q.ID, found.Near, near, found.Note)
	}
	ids := make([]events.ID, len(found.Results))
	for i, r := range found.Results {
		ids[i] = r.ID
	}
	return ids, nil
}

func named(ids []events.ID, names map[events.ID]string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = names[id]
	}
	return out
}

// each calls do for 0 to n-1 from several goroutines, until one fails or ctx is done.
func each(ctx context.Context, workers, n int, do func(int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(int(i)); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// cut shortens s to at most limit bytes of whole runes.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && s[limit]&0xC0 == 0x80 {
		limit--
	}
	return s[:limit]
}
