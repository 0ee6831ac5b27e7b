package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/logtest"
)

var searchedRows = flag.Int("rows", 0, "BenchmarkSearch asks among so many rows alone; a million take minutes to lay, and more than the default -timeout")

// BenchmarkSearch asks a whole daemon over its unix socket, among so many observations of about 600 bytes whose words are as
// unevenly common as those of real text: by two words and by six of middling rarity, by two that are common, by two in one
// project, and for what an agent is told at a start. The client shares its cores.
func BenchmarkSearch(b *testing.B) {
	sizes := []int{1_000, 10_000, 100_000}
	if *searchedRows > 0 {
		sizes = []int{*searchedRows}
	}
	for _, rows := range sizes {
		if rows > 10_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) { benchmarkSearches(b, rows) })
	}
}

func benchmarkSearches(b *testing.B, rows int) {
	log := logtest.Open(b, eventlog.Config{})
	text := newDrawnText()
	fillLog(b, log, text, rows)
	w := startWorld(b, log, nil)
	defer w.end()
	last, err := log.Last(b.Context())
	if err := errors.Join(err, w.views.Wait(b.Context(), last), w.index.Wait(b.Context(), last)); err != nil {
		b.Fatal(err)
	}
	two := func() string { return text.middling(2) }
	for _, bench := range []struct {
		name string
		ask  func(ctx context.Context) error
	}{
		{"two", w.searching(func() api.SearchQuery { return api.SearchQuery{Text: two()} })},
		{"six", w.searching(func() api.SearchQuery { return api.SearchQuery{Text: text.middling(6)} })},
		{"common", w.searching(func() api.SearchQuery { return api.SearchQuery{Text: text.words[3] + " " + text.words[7]} })},
		{"project", w.searching(func() api.SearchQuery { return api.SearchQuery{Text: two(), Project: "/src/p0"} })},
		{"faceted", w.searching(func() api.SearchQuery { return api.SearchQuery{Text: two(), Facets: true} })},
		{"rows", func(ctx context.Context) error {
			_, err := api.ListRoute.Call(ctx, w.client, api.ListQuery{Limit: 200})
			return err
		}},
		{"states", func(ctx context.Context) error {
			_, err := api.ListRoute.Call(ctx, w.client, api.ListQuery{State: "repeated", Counts: true, Limit: 200})
			return err
		}},
		{"log", func(ctx context.Context) error { // a jump to somewhere
			_, err := api.RecordsRoute.Call(ctx, w.client, api.RecordsQuery{From: 1 + events.Position(rand.N(uint64(last))), Limit: 200})
			return err
		}},
		{"back", func(ctx context.Context) error {
			_, err := api.RecordsRoute.Call(ctx, w.client, api.RecordsQuery{Before: 1 + events.Position(rand.N(uint64(last))), Limit: 200})
			return err
		}},
		{"context", func(ctx context.Context) error {
			_, err := api.ContextRoute.Call(ctx, w.client, api.ContextQuery{Project: "/src/p0"})
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := bench.ask(b.Context()); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

func (w *world) searching(next func() api.SearchQuery) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := api.SearchRoute.Call(ctx, w.client, next())
		return err
	}
}

// drawnText draws words of which few are common and many rare.
type drawnText struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newDrawnText() *drawnText {
	rng := rand.New(rand.NewPCG(1, 1))
	t := &drawnText{rng: rng, zipf: rand.NewZipf(rng, 1.1, 8, 49_999)}
	syllables := strings.Fields("ba co di fu ge hi jo ka lu me ni po qua re si to vu wa xe yo zi tra ble cran sto pli")
	for i := range 50_000 {
		word := ""
		for n := i; ; n /= len(syllables) {
			word += syllables[n%len(syllables)]
			if n < len(syllables) {
				break
			}
		}
		t.words = append(t.words, word)
	}
	return t
}

func (t *drawnText) of(words int) string {
	list := make([]string, words)
	for i := range list {
		list[i] = t.words[t.zipf.Uint64()]
	}
	return strings.Join(list, " ")
}

// middling are words as people search by.
func (t *drawnText) middling(words int) string {
	list := make([]string, words)
	for i := range list {
		list[i] = t.words[100+t.rng.IntN(2000)]
	}
	return strings.Join(list, " ")
}

// fillLog appends so many observations, in closed sessions of 50, in projects of 5,000.
func fillLog(b *testing.B, log eventlog.Log, text *drawnText, rows int) {
	b.Helper()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i := 0; i < rows; {
		native, project := fmt.Sprint("s", i), fmt.Sprint("p", i/5000)
		list := []events.Event{events.SessionOpened{Agent: "claude-code", AgentSession: native, Project: project, ProjectRoot: "/src/" + project, Source: "startup"}}
		for range min(50, rows-i) {
			i++
			list = append(list, events.ObservationParsed{
				Observation: newID(), Type: "change", Title: text.of(7), Narrative: text.of(50), Facts: []string{text.of(11), text.of(11)},
				Concepts: []string{"how-it-works"}, FilesModified: []string{fmt.Sprintf("internal/%s/%s.go", text.of(1), text.of(1))},
			})
		}
		drafts := make([]events.Draft, 0, len(list)+1)
		for _, e := range append(list, events.SessionClosed{Cause: "end"}) {
			at = at.Add(time.Minute)
			drafts = append(drafts, events.Draft{ID: newID(), OccurredAt: at, Event: e})
		}
		if _, err := log.Append(b.Context(), events.SessionIDOf("claude-code", native).Stream(), 0, drafts...); err != nil {
			b.Fatal(err)
		}
	}
}
