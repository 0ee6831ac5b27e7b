package index

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestSorts(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	var ids []events.ID
	for i := range 150 {
		w.at = w.at.Add(time.Duration(i%7) * time.Hour)
		ids = append(ids, w.observe(s, fmt.Sprintf("carousel %d", i), ""))
	}
	x := w.mustOpen(t.TempDir())
	newest := slices.Clone(ids)
	slices.Reverse(newest)
	for name, c := range map[string]struct {
		q    Query
		want []events.ID
	}{
		"oldest with words":    {Query{Text: "carousel", Sort: Oldest, Limit: 150}, ids},
		"newest with words":    {Query{Text: "carousel", Sort: Newest, Limit: 150}, newest},
		"oldest without words": {Query{Type: "discovery", Sort: Oldest, Limit: 5}, ids[:5]},
		"newest without words": {Query{Type: "discovery", Sort: Newest, Limit: 5}, newest[:5]},
		"best without words":   {Query{Type: "discovery", Limit: 5}, newest[:5]},
	} {
		res := mustSearch(t, x, c.q)
		if diff := cmp.Diff(c.want, idsOf(res)); diff != "" || res.Total != 150 {
			t.Errorf("%s: total %d, -want +got\n%s", name, res.Total, diff)
		}
	}
}

func TestFacetsCountAllThatMatches(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	a, b := w.open("codex", "a", "shop"), w.open("codex", "b", "bank")
	put := func(s events.SessionID, typ, concept, file, title string) {
		w.put(s.Stream(), events.ObservationParsed{
			Observation: uuid.Must(uuid.NewV7()), Type: typ, Title: title, Concepts: []string{concept}, FilesModified: []string{file},
		})
	}
	for range 130 { // more than are ever returned
		put(a, "bugfix", "Gotcha", "/src/shop/cart.go", "carousel")
	}
	put(b, "feature", "how-it-works", "/src/bank/till.go", "carousel")
	w.at = w.at.AddDate(0, 2, 0)
	put(b, "feature", "how-it-works", "/src/bank/till.go", "carousel")
	put(b, "feature", "how-it-works", "/src/bank/other.go", "something else")
	x := w.mustOpen(t.TempDir())
	want := &Facets{
		Project: []Count{{"shop", 130}, {"bank", 2}},
		Type:    []Count{{"bugfix", 130}, {"feature", 2}},
		Concept: []Count{{"gotcha", 130}, {"how-it-works", 2}},
		File:    []Count{{"/src/shop/cart.go", 130}, {"/src/bank/till.go", 2}},
		Month:   []Count{{"2026-05", 1}, {"2026-03", 131}},
	}
	res := mustSearch(t, x, Query{Text: "carousel", Limit: 3, Facets: true})
	if diff := cmp.Diff(want, res.Facets); diff != "" || res.Total != 132 {
		t.Errorf("total %d, -want +got\n%s", res.Total, diff)
	}
	narrow := mustSearch(t, x, Query{Project: "bank", Facets: true, Limit: 1})
	if diff := cmp.Diff([]Count{{"/src/bank/till.go", 2}, {"/src/bank/other.go", 1}}, narrow.Facets.File); diff != "" {
		t.Errorf("without words: -want +got\n%s", diff)
	}
	if mustSearch(t, x, Query{Text: "carousel"}).Facets != nil {
		t.Error("facets that nobody asked for")
	}
}

// What an explanation lists adds up to the score that the hit was ranked by.
func TestExplanationsAddUp(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.fill(newCorpus(7), 300)
	s := w.open("x", "s", "p")
	w.observe(s, "The parseAgentXml quorum", "lost on 3 May")
	w.put(s.Stream(), events.PromptSubmitted{Text: "why was quorum lost"})
	x := w.mustOpen(t.TempDir())
	c := newCorpus(8)
	for _, text := range []string{"quorum lost", "parse agent xml in March 2026", c.text(60), c.middle(3)} {
		for _, h := range mustSearch(t, x, Query{Text: text, Explain: true}).Hits {
			sum := 0.0
			for _, term := range h.Explain.Terms {
				sum += term.Score
			}
			e := h.Explain
			if math.Abs(sum-e.Words) > 1e-4*sum || len(e.Terms) == 0 {
				t.Fatalf("%q: words %v, terms %+v", text, e.Words, e.Terms)
			}
			if got := e.Words*e.Kind*(1+e.Recency) + e.Session + e.Date + e.Near; math.Abs(got-h.Score) > 1e-9 {
				t.Fatalf("%q: parts %+v make %v, score %v", text, e.Parts, got, h.Score)
			}
		}
	}
}

func TestRecencyCanBeSet(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	old := w.observe(w.open("x", "a", "p"), "Notes", "quorum lost again")
	w.at = w.at.Add(300 * day)
	fresh := w.observe(w.open("x", "b", "p"), "Notes", "quorum lost again, and then it came back by itself")
	x := w.mustOpen(t.TempDir())
	for recency, want := range map[float64]events.ID{-1: old, 0: old, 1: fresh} {
		if got := idsOf(mustSearch(t, x, Query{Text: "quorum", Recency: recency})); got[0] != want {
			t.Errorf("recency %v: got %v first, want %v", recency, got[0], want)
		}
	}
}

func TestDateInTheQuestion(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.at = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	march := w.observe(w.open("x", "a", "p"), "Quorum", "the quorum was lost and found")
	w.at = time.Date(2026, 6, 2, 9, 0, 0, 0, time.UTC)
	june := w.observe(w.open("x", "b", "p"), "Quorum", "the quorum was lost and found")
	x := w.mustOpen(t.TempDir())
	for q, want := range map[string]events.ID{
		"quorum": june, "what was with the quorum in March 2026": march, "quorum 2026-03-02": march, "quorum on 2 June": june,
	} {
		if got := idsOf(mustSearch(t, x, Query{Text: q})); got[0] != want {
			t.Errorf("%q: the wrong one is first", q)
		}
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]mention{
		"on 2026-01-31.":              {{2026, 1, 31}},
		"in 2026-01":                  {{2026, 1, 0}},
		"the plan for 2025":           {{2025, 0, 0}},
		"3 July 2024, or Aug 5th":     {{2024, 7, 3}, {0, 8, 5}},
		"July 3rd, 2024":              {{2024, 7, 3}},
		"Sept. the 4th":               nil,
		"in March 2024":               {{2024, 3, 0}},
		"what may I march to":         nil,
		"since January":               {{0, 1, 0}},
		"port 37911, 404, 1234":       nil,
		"12 May":                      {{0, 5, 12}},
		"":                            nil,
		"2026 2026 2026 2026 2026":    {{2026, 0, 0}, {2026, 0, 0}, {2026, 0, 0}, {2026, 0, 0}},
		"dec 1 jan 2":                 {{0, 12, 1}, {0, 1, 2}},
		"commit abcdef on Feb 30 ann": {{0, 2, 30}},
	} {
		if diff := cmp.Diff(want, mentions(text), cmp.AllowUnexported(mention{})); diff != "" {
			t.Errorf("%q: -want +got\n%s", text, diff)
		}
	}
}

func FuzzMentions(f *testing.F) {
	f.Add("on 3 July 2024, Aug 5th and 2026-01-31")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range mentions(text) {
			if m == (mention{}) || m.month > 12 || m.day > 31 || m.day > 0 && m.month == 0 {
				t.Fatalf("%q: %+v", text, m)
			}
		}
	})
}

// Words that were written apart find the identifier, and the other way round.
func TestNeighbouringWordsFindTheIdentifier(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	want := w.observe(w.open("x", "a", "p"), "Notes", "removed the CODEOWNERS entry")
	other := w.observe(w.open("x", "b", "p"), "Notes", "changed parse_agent_xml")
	for i := range 40 {
		w.observe(w.open("x", fmt.Sprint(i), "p"), "Agent notes", "an agent can parse code, xml, and what owners write")
	}
	x := w.mustOpen(t.TempDir())
	for q, id := range map[string]events.ID{"code owners": want, "parse the agent xml": other} {
		if got := idsOf(mustSearch(t, x, Query{Text: q})); len(got) == 0 || got[0] != id {
			t.Errorf("%q: the identifier is not first", q)
		}
	}
}

func TestWordsThatMeanTheSameMeet(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"bought", "buy"}, {"rebuilt", "rebuild"}, {"wrote", "writing"}, {"children", "child"}, {"indices", "index"},
		{"repo", "repositories"}, {"configs", "configuration"}, {"env", "environments"}, {"docs", "documentation"},
		{"behaviour", "behavior"}, {"coloured", "colors"}, {"serialised", "serializing"}, {"centre", "center"}, {"analyse", "analyzing"},
	} {
		a, b := termsOf(pair[0], true), termsOf(pair[1], false)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s and %s: %s", pair[0], pair[1], diff)
		}
	}
	for _, pair := range [][2]string{{"four", "for"}, {"hour", "or"}, {"this", "thing"}, {"basis", "base"}} {
		if cmp.Equal(termsOf(pair[0], false), termsOf(pair[1], false)) {
			t.Errorf("%s and %s are one word", pair[0], pair[1])
		}
	}
}

// Whatever is written, the filters let through exactly what a look at every document lets through.
func TestSpansAgreeWithALookAtEachDocument(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	s := w.open("codex", "s", "p")
	type row struct {
		id  events.ID
		at  time.Time
		pos events.Position
	}
	var rows []row
	for i := range 60 {
		w.at = w.at.Add(time.Duration(i*i) * time.Minute)
		id := uuid.Must(uuid.NewV7())
		r := w.put(s.Stream(), events.ObservationParsed{Observation: id, Title: "carousel"})[0]
		rows = append(rows, row{id, r.OccurredAt, r.Position})
	}
	x := w.mustOpen(t.TempDir())
	rapid.Check(t, func(rt *rapid.T) {
		pick := rapid.IntRange(0, len(rows)-1)
		q := Query{Text: rapid.SampledFrom([]string{"", "carousel"}).Draw(rt, "text")}
		if rapid.Bool().Draw(rt, "since?") {
			q.Since = rows[pick.Draw(rt, "since")].at.Add(time.Duration(rapid.IntRange(-1, 1).Draw(rt, "±")) * time.Millisecond)
		}
		if rapid.Bool().Draw(rt, "until?") {
			q.Until = rows[pick.Draw(rt, "until")].at
		}
		if rapid.Bool().Draw(rt, "as of?") {
			q.AsOf = rows[pick.Draw(rt, "as of")].pos
		}
		var want []events.ID
		for _, r := range rows {
			if !r.at.Before(q.Since) && (q.Until.IsZero() || !r.at.After(q.Until)) && (q.AsOf == 0 || r.pos <= q.AsOf) {
				want = append(want, r.id)
			}
		}
		if diff := cmp.Diff(sorted(want), sorted(idsOf(mustSearch(t, x, q)))); diff != "" {
			rt.Fatalf("%+v: -want +got\n%s", q, diff)
		}
	})
}

// A beginning stands in the word itself, and finds its other forms in text as it is written.
func TestStemPrefixes(t *testing.T) {
	t.Parallel()
	x := newWriter(t).mustOpen(t.TempDir())
	for text, want := range map[string][]string{
		"why were the queries slower":   {"quer", "slower"},
		"parseAgentXml, indices bought": {"parseagentxml", "indices", "bought"},
		"Running tests":                 {"run", "test"},
		"the of":                        nil,
		"支付网关":                          {"支付", "付网", "网关"},
		"用API处理":                        {"用", "api", "处理"},
	} {
		if diff := cmp.Diff(want, x.StemPrefixes(text)); diff != "" {
			t.Errorf("%q: -want +got\n%s", text, diff)
		}
	}
	if n := len(x.StemPrefixes(newCorpus(1).text(4000))); n != maxStemPrefixes {
		t.Errorf("got %d of a long text, want %d", n, maxStemPrefixes)
	}
	if diff := cmp.Diff(map[string]int{"store": 2, "sessionstor": 1, "session": 1}, x.Frequencies("sessionStore stores")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
