package index

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func TestAnyWordFinds(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s1", "shop")
	want := w.observe(s, "Fixed the retry loop in paymentGateway", "Backoff doubled; see internal/pay/gateway_client.go and --max-retries.")
	w.observe(s, "Wrote release notes", "Nothing else happened.")
	x := w.mustOpen(t.TempDir())
	for _, q := range []string{
		"retry", "retries", "paymentGateway", "payment_gateway", "payment", "gateway_client.go", "internal/pay/gateway_client.go",
		"--max-retries", "max-retries", "backoff", "BACKOFF doubling", "retry unheardof words", "what about the loop",
	} {
		res := mustSearch(t, x, Query{Text: q})
		if len(res.Hits) == 0 || res.Hits[0].ID != want {
			t.Errorf("%q: got %v, want %v first", q, idsOf(res), want)
		}
	}
	if res := mustSearch(t, x, Query{Text: "zebra"}); len(res.Hits) != 0 || res.Total != 0 {
		t.Errorf("an unknown word: got %v", res)
	}
	if res := mustSearch(t, x, Query{Text: "?!"}); len(res.Hits) != 0 {
		t.Errorf("a text without words: got %v", res)
	}
}

func TestStopWordsAloneFind(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	id := w.observe(w.open("codex", "s", "p"), "To be or not to be", "")
	x := w.mustOpen(t.TempDir())
	if diff := cmp.Diff([]events.ID{id}, idsOf(mustSearch(t, x, Query{Text: "to be or not"}))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	a, b := w.open("codex", "native-a", "shop"), w.open("gemini", "native-b", "bank")
	observed := uuid.Must(uuid.NewV7())
	recs := w.put(a.Stream(),
		events.PromptSubmitted{Number: 1, Text: "the token cache"},
		events.ObservationParsed{Observation: observed, Type: "bugfix", Title: "token cache", Concepts: []string{"How-It-Works"}, FilesModified: []string{"/src/shop/auth/cache.go"}},
		events.PromptSubmitted{Number: 2, Text: "token secret", Private: true},
	)
	prompt, asked := recs[0].ID, recs[0]
	summary, memory := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	w.put(b.Stream(), events.SummaryParsed{Summary: summary, Request: "token rotation"})
	w.put("daemon", events.MemorySaved{Memory: memory, Project: "shop", Title: "token policy", Text: "rotate daily", Session: "meeting-7", At: time.Date(2020, 5, 5, 0, 0, 0, 0, time.UTC)})
	x := w.mustOpen(t.TempDir())
	for _, tc := range []struct {
		name string
		q    Query
		want []events.ID
	}{
		{"none", Query{}, []events.ID{prompt, observed, summary, memory}},
		{"project by root", Query{Project: "/src/shop"}, []events.ID{prompt, observed}},
		{"project by name", Query{Project: "shop"}, []events.ID{prompt, observed, memory}},
		{"our session id", Query{Session: a.String()}, []events.ID{prompt, observed}},
		{"agent's session id", Query{Session: "native-b"}, []events.ID{summary}},
		{"saver's session name", Query{Session: "meeting-7"}, []events.ID{memory}},
		{"agent", Query{Agent: "gemini"}, []events.ID{summary}},
		{"type", Query{Type: "bugfix"}, []events.ID{observed}},
		{"concept", Query{Concept: "how-it-works "}, []events.ID{observed}},
		{"file name", Query{File: "cache.go"}, []events.ID{observed}},
		{"end of a path", Query{File: "auth/cache.go"}, []events.ID{observed}},
		{"whole path", Query{File: "/src/shop/auth/cache.go"}, []events.ID{observed}},
		{"part of a name is no file", Query{File: "che.go"}, nil},
		{"kinds", Query{Kinds: []Kind{Memory, Summary}}, []events.ID{summary, memory}},
		{"until", Query{Until: time.Date(2020, 5, 5, 0, 0, 0, 0, time.UTC)}, []events.ID{memory}},
		{"since, inclusive", Query{Since: asked.OccurredAt}, []events.ID{prompt, observed, summary}},
		{"since, a moment later", Query{Since: asked.OccurredAt.Add(time.Second)}, []events.ID{observed, summary}},
		{"span without anything", Query{Since: w.at.Add(time.Hour), Until: w.at}, nil},
		{"as of", Query{AsOf: asked.Position}, []events.ID{prompt}},
		{"two filters", Query{Project: "shop", Kinds: []Kind{Prompt}}, []events.ID{prompt}},
		{"private prompts are not there", Query{Text: "secret"}, nil},
	} {
		for _, text := range []string{tc.q.Text, "token"} {
			q := tc.q
			if q.Text == "" {
				q.Text = text
			}
			got := idsOf(mustSearch(t, x, q))
			if diff := cmp.Diff(sorted(tc.want), sorted(got)); diff != "" {
				t.Errorf("%s, text %q: -want +got\n%s", tc.name, q.Text, diff)
			}
		}
	}
}

func sorted(ids []events.ID) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, id.String())
	}
	slices.Sort(out)
	return out
}

func TestWithoutTextTheNewestComeFirst(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	var want []events.ID
	for range 300 {
		w.at = w.at.Add(5 * time.Hour)
		want = append(want, w.observe(s, "note", ""))
	}
	slices.Reverse(want)
	x := w.mustOpen(t.TempDir())
	res := mustSearch(t, x, Query{Limit: 150, Type: "discovery"})
	if diff := cmp.Diff(want[:150], idsOf(res)); diff != "" || res.Total != 300 {
		t.Errorf("total %d; -want +got\n%s", res.Total, diff)
	}
}

func TestRanking(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("various unrelated remarks about build and deploy steps ", 8)
	for _, tc := range []struct {
		name  string
		query string
		build func(w *writer) (first, second events.ID)
	}{
		{"title before body", "scheduler", func(w *writer) (events.ID, events.ID) {
			a := w.observe(w.open("x", "a", "p"), "The scheduler", "It has been changed for the better today.")
			return a, w.observe(w.open("x", "b", "p"), "A change", "It is the scheduler that has been changed today.")
		}},
		{"both words before one", "scheduler lease", func(w *writer) (events.ID, events.ID) {
			a := w.observe(w.open("x", "a", "p"), "Notes", "scheduler grants a lease")
			return a, w.observe(w.open("x", "b", "p"), "Notes", "scheduler scheduler scheduler")
		}},
		{"rare word before common", "deploy quorum", func(w *writer) (events.ID, events.ID) {
			for range 20 {
				w.observe(w.open("x", "c", "p"), "Other", "deploy again")
			}
			a := w.observe(w.open("x", "a", "p"), "Notes", "quorum lost")
			return a, w.observe(w.open("x", "b", "p"), "Notes", "deploy done")
		}},
		{"short before long", "quorum", func(w *writer) (events.ID, events.ID) {
			a := w.observe(w.open("x", "a", "p"), "Notes", "quorum lost")
			return a, w.observe(w.open("x", "b", "p"), "Notes", "quorum lost "+filler)
		}},
		{"session that speaks of the rest", "quorum lease", func(w *writer) (events.ID, events.ID) {
			s := w.open("x", "a", "p")
			a := w.observe(s, "Notes", "quorum lost again")
			w.observe(s, "Other", "a lease ran out "+filler)
			return a, w.observe(w.open("x", "b", "p"), "Notes", "quorum lost again")
		}},
		{"observation before prompt", "quorum", func(w *writer) (events.ID, events.ID) {
			a := w.observe(w.open("x", "a", "p"), "", "why was quorum lost today")
			r := w.put(w.open("x", "b", "p").Stream(), events.PromptSubmitted{Text: "why was quorum lost today"})
			return a, r[0].ID
		}},
		{"recent before old", "quorum", func(w *writer) (events.ID, events.ID) {
			old := w.observe(w.open("x", "a", "p"), "Notes", "quorum lost")
			w.at = w.at.Add(200 * day)
			return w.observe(w.open("x", "b", "p"), "Notes", "quorum lost"), old
		}},
		{"better before recent", "quorum lost", func(w *writer) (events.ID, events.ID) {
			old := w.observe(w.open("x", "a", "p"), "Notes", "quorum lost")
			w.at = w.at.Add(200 * day)
			return old, w.observe(w.open("x", "b", "p"), "Notes", "quorum "+filler)
		}},
		{"whole identifier before its parts", "parseAgentXml", func(w *writer) (events.ID, events.ID) {
			a := w.observe(w.open("x", "a", "p"), "Notes", "changed parse_agent_xml here")
			return a, w.observe(w.open("x", "b", "p"), "Notes", "the agent can parse xml")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			first, second := tc.build(w)
			for range 30 {
				w.observe(w.open("x", "filler", "p"), "Something else", filler)
			}
			ids := idsOf(mustSearch(t, w.mustOpen(t.TempDir()), Query{Text: tc.query}))
			i, j := slices.Index(ids, first), slices.Index(ids, second)
			if i < 0 || j < 0 || i > j {
				t.Errorf("%q: the better one is at %d, the other at %d of %d", tc.query, i, j, len(ids))
			}
		})
	}
}

func TestForgottenWordsLeaveTheFiles(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	byID := w.observe(s, "Keep and hide", "xylophone")
	kept := w.observe(s, "Keep", "ordinary")
	dir := t.TempDir()
	x := w.mustOpen(dir)
	byPosition := w.put(s.Stream(), events.PromptSubmitted{Text: "keep my zyzzyva"})[0]
	w.put(s.Stream(), events.MemoryForgotten{IDs: []events.ID{byID}, Positions: []events.Position{byPosition.Position}, Cause: "person"})
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]events.ID{kept}, idsOf(mustSearch(t, x, Query{Text: "keep xylophone zyzzyva"}))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	snap, err := x.builder.store.snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for _, word := range []string{"xylophon", "zyzzyva"} {
		dict, err := snap.FieldDictPrefix(fieldText, []byte(word))
		if err != nil {
			t.Fatal(err)
		}
		if entry, err := dict.Next(); err != nil || entry != nil {
			t.Errorf("the files still hold %v (%v)", entry, err)
		}
	}
}

func TestErasedPayloadsAreNotIndexed(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	rec := w.put(s.Stream(), events.PromptSubmitted{Text: "quetzal"})[0]
	if err := w.log.Erase(t.Context(), rec.Position); err != nil {
		t.Fatal(err)
	}
	if res := mustSearch(t, w.mustOpen(t.TempDir()), Query{Text: "quetzal"}); len(res.Hits) != 0 {
		t.Errorf("got %v", res.Hits)
	}
}

func TestSearchErrors(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.observe(w.open("x", "s", "p"), "one", "")
	x := w.mustOpen(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, Query{Text: "one"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Search(t.Context(), Query{Text: "one"}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
	if err := x.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
}

func TestLongQueryLooksForItsRarestWords(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	c := newCorpus(2)
	w.fill(c, 200)
	id := w.observe(w.open("x", "s", "p"), "Notes", "ornithorhynchus")
	x := w.mustOpen(t.TempDir())
	res := mustSearch(t, x, Query{Text: c.text(20_000) + " ornithorhynchus", Limit: 300})
	if !slices.Contains(idsOf(res), id) {
		t.Errorf("the only one that has the rarest word is not among %d hits", len(res.Hits))
	}
}
