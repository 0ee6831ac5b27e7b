package recall

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// answered is a prompt with what came of it.
func (w *world) answered(s events.SessionID, number int, prompt string, titles ...string) (ids []events.ID) {
	ids = append(ids, w.put(s.Stream(), events.PromptSubmitted{Number: number, Text: prompt})[0].ID)
	for _, title := range titles {
		id := newID()
		w.put(s.Stream(), events.ObservationParsed{Observation: id, Prompt: number, Type: "bugfix", Title: title, Narrative: title + " was the cause of it. It took a day to find."})
		ids = append(ids, id)
	}
	return ids
}

func partIDs(it Item) (ids []events.ID) {
	for _, p := range it.Parts {
		ids = append(ids, p.ID)
	}
	return ids
}

// A result is an entry: the row that matches best, and beside it whatever else stands of it.
func TestSearchFindsEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	one := w.answered(s, 1, "The carousel flickers", "A carousel timer", "A leaking socket", "Carousel carousel")
	two := w.answered(s, 2, "And the other carousel?", "A lamp")
	other := w.answered(w.open("b", "shop"), 1, "Mend the belt", "The carousel belt")
	summary := newID()
	w.put(s.Stream(), events.SummaryParsed{Summary: summary, Prompt: 2, Request: "Carousels"})
	w.put(events.Daemon, events.MemorySuperseded{Memory: one[2], By: summary})
	got := w.mustSearch(Query{Text: "carousel"})
	want := map[events.ID][]events.ID{
		one[3]: {one[0], one[1]}, two[0]: {two[1]}, other[1]: {other[0]},
		summary: nil, // a session's is of no prompt
	}
	if len(got.Results) != len(want) || got.Total != len(want) {
		t.Errorf("%d results of %d, want %d", len(got.Results), got.Total, len(want))
	}
	for _, it := range got.Results {
		parts, ok := want[it.ID]
		if diff := cmp.Diff(parts, partIDs(it)); !ok || diff != "" {
			t.Errorf("%q: parts (-want +got):\n%s", it.Title, diff)
		}
	}
	part := got.Results[slices.IndexFunc(got.Results, func(it Item) bool { return it.ID == one[3] })].Parts[1]
	wantPart := EntryPart{ID: one[1], Handle: part.Handle, Kind: rows.Observation, Type: "bugfix", Title: "A carousel timer", Text: "A carousel timer was the cause of it. It took a day to find."}
	if diff := cmp.Diff(wantPart, part); diff != "" || part.Handle == (rows.Handle{}) {
		t.Errorf("part (-want +got):\n%s", diff)
	}
}

// A filter chooses the row that is shown; its parts are the whole entry's all the same. As of a moment they are those of then.
func TestPartsAreWhatStandsOfTheEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	ids := w.answered(s, 1, "The carousel flickers", "A carousel timer", "A leaking socket")
	last := w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Prompt: 1, Type: "change", Title: "The socket is dry"})[0]
	for name, q := range map[string]Query{
		"type": {Type: "change"}, "kind and text": {Text: "socket", Kinds: []rows.Kind{rows.Observation}, Type: "change"}, "sorted": {Text: "dry", Sort: Oldest},
	} {
		got := w.mustSearch(q).Results
		if len(got) != 1 || got[0].Title != "The socket is dry" {
			t.Errorf("%s: got %+v", name, got)
		} else if diff := cmp.Diff(ids, partIDs(got[0])); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", name, diff)
		}
	}
	got := w.mustSearch(Query{Text: "timer", AsOf: last.Position - 1}).Results
	if len(got) != 1 || len(got[0].Parts) != 2 {
		t.Errorf("before the last was recorded: %+v", got)
	}
}

// However much an entry holds, what is shown of it is bounded, and sentences are whole.
func TestPartsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "carousel"})
	for i := range 3 * maxParts {
		w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Prompt: 1, Title: fmt.Sprint("Part ", i), Narrative: strings.Repeat(fmt.Sprintf("Sentence %d of many is here. ", i), 4000)})
	}
	w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Prompt: 1, Title: "No end", Narrative: strings.Repeat("endless ", 4000)})
	got := w.mustSearch(Query{Text: "carousel"}).Results
	if len(got) != 1 || len(got[0].Parts) != maxParts {
		t.Fatalf("%d results, with %d parts", len(got), len(got[0].Parts))
	}
	all := 0
	for _, p := range got[0].Parts {
		if size(p.Text) > maxPartText || p.Text != "" && !strings.HasSuffix(p.Text, "is here.") {
			t.Errorf("%d characters: %q", size(p.Text), p.Text)
		}
		all += size(p.Text)
	}
	if all < maxPartTexts/2 || all > maxPartTexts {
		t.Errorf("%d characters of all parts", all)
	}
	if text := firstSentences(strings.Repeat("endless ", 4000), "No end", maxPartText); text != "" {
		t.Errorf("a part of a sentence: %q", text)
	}
}

// Pages of any size give each entry once, with the same row at the same place, and the totals say when there is no more.
func TestPagesOfEntriesAgree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(3, 5))
	entries := 0
	for i := range 12 {
		s := w.open(fmt.Sprint(i), "shop")
		for prompt := range 1 + rng.IntN(6) {
			var titles []string
			for j := range rng.IntN(6) {
				titles = append(titles, fmt.Sprintf("red w%d carousel w%d w%d w%d", rng.IntN(300), rng.IntN(300), i, j))
			}
			w.answered(s, prompt+1, fmt.Sprintf("Look at the carousel w%d w%d", rng.IntN(900), rng.IntN(900)), titles...)
			entries++
		}
		w.put(s.Stream(), events.SummaryParsed{Summary: newID(), Request: fmt.Sprintf("red carousel w%d", i)})
		entries++
	}
	w.sync()
	queries := []Query{{Text: "red carousel"}, {Text: "carousel", Sort: Newest}, {}, {Text: "red carousel", Kinds: []rows.Kind{rows.Observation}}}
	want := make([][]Item, len(queries))
	for i, q := range queries {
		q.Limit = MaxLimit
		want[i] = w.walk(t, q)
		once(t, q, want[i])
		marks := map[events.ID]bool{}
		for _, it := range want[i] {
			if marks[it.Mark] {
				t.Errorf("%+v: an entry comes twice: %s", q, it.Title)
			}
			marks[it.Mark] = true
		}
	}
	if len(want[0]) != entries || len(want[2]) != entries+1 { // what another machine was asked is one more
		t.Errorf("%d and %d of %d entries", len(want[0]), len(want[2]), entries)
	}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(queries)-1).Draw(t, "query")
		q := queries[i]
		q.Limit = rapid.IntRange(4, MaxLimit).Draw(t, "limit")
		if diff := cmp.Diff(idsOf(want[i]), idsOf(w.walk(t, q))); diff != "" {
			t.Fatalf("%+v: pages of %d and of %d differ:\n%s", q, q.Limit, MaxLimit, diff)
		}
	})
}

// Where memory grows between pages, an entry that was shown by one row does not come again by another.
func TestShownEntriesDoNotComeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.answered(s, 1, "The carousel flickers", "A timer")
	w.answered(s, 2, "The carousel hums", "A lamp")
	shown := map[events.ID]bool{}
	for _, it := range w.mustSearch(Query{Text: "carousel", Limit: 1}).Results {
		shown[it.Mark] = true
	}
	for number := range 2 {
		w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Prompt: number + 1, Title: fmt.Sprint("Carousel carousel carousel ", number)})
	}
	rest := w.mustSearch(Query{Text: "carousel", Limit: 10, Shown: func(id events.ID) bool { return shown[id] }}).Results
	if len(rest) != 1 || shown[rest[0].Mark] {
		t.Errorf("%d results behind the first", len(rest))
	}
}

// A timeline has each entry once, where it begins; the anchor's is at the anchor.
func TestTimelineOfEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.open("a", "shop"), w.open("b", "shop")
	one := w.answered(a, 1, "First", "One")
	long := w.put(b.Stream(), events.PromptSubmitted{Number: 1, Text: "Takes long"})[0].ID
	two := w.answered(a, 2, "Second", "Two", "Three")
	w.put(b.Stream(), events.ObservationParsed{Observation: newID(), Prompt: 1, Title: "It took long"})
	three := w.answered(a, 3, "Third", "Four")
	note := newID()
	w.put(events.Daemon, events.MemorySaved{Memory: note, ProjectRoot: "/src/shop", Project: "shop", Text: "A note"})
	w.sync()
	for _, c := range []struct {
		name         string
		q            TimelineQuery
		older, newer []events.ID
	}{
		{"around a later row of an entry", TimelineQuery{Anchor: two[2].String()}, []events.ID{one[0], long}, []events.ID{three[0], note}},
		{"of a name alone", TimelineQuery{Anchor: two[0].String(), Project: "shop"}, []events.ID{one[0], long}, []events.ID{three[0], note}},
		{"one on a side", TimelineQuery{Anchor: two[1].String(), Before: 1, After: 1}, []events.ID{long}, []events.ID{three[0]}},
		{"none before", TimelineQuery{Anchor: two[1].String(), Before: -1, After: 1}, nil, []events.ID{three[0]}},
		{"a time", TimelineQuery{Anchor: "now", Project: "/src/shop", Before: 2}, []events.ID{three[0], note}, nil},
	} {
		got, err := w.Timeline(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		for side, ids := range map[string][2][]events.ID{"before": {c.older, idsOf(got.Before)}, "after": {c.newer, idsOf(got.After)}} {
			if !slices.Equal(ids[0], ids[1]) {
				t.Errorf("%s, %s: got %v, want %v", c.name, side, ids[1], ids[0])
			}
		}
	}
}

// In a context what came of one prompt stands below what was asked, once, under the prompt's handle.
func TestContextTellsEntries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, other := w.open("a", "shop"), w.open("b", "shop")
	alone := w.answered(other, 1, "Paint the shed in the yard green", "Green paint is sold out")
	prompt := w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "Mend the carousel in the yard"})[0]
	fix, gone := newID(), newID()
	recs := w.put(s.Stream(),
		events.ObservationParsed{Observation: fix, Prompt: 1, Type: "bugfix", Title: "The timer was too fast"},
		events.ObservationParsed{Observation: newID(), Prompt: 1, Type: "discovery", Title: "The socket leaks in the rain"})
	late := w.put(other.Stream(), events.PromptSubmitted{Number: 2, Text: "Sweep the yard before noon"})[0]
	w.put(other.Stream(),
		events.ObservationParsed{Observation: newID(), Prompt: 2, Type: "change", Title: "The yard is swept"},
		events.ObservationParsed{Observation: gone, Prompt: 2, Type: "change", Title: "The broom is broken"})
	got := w.mustContext(shop("startup", s))
	m := func(r events.Record) string { return rows.Handle{At: r.Place().Position}.String() }
	at := func(r events.Record) string { return r.OccurredAt.Format("15:04") }
	want := "- " + m(prompt) + " " + at(recs[0]) + " asked: Mend the carousel in the yard\n" +
		"  - bugfix: The timer was too fast\n  - discovery: The socket leaks in the rain\n"
	row, err := w.views.Row(t.Context(), alone[1])
	if err != nil {
		t.Fatal(err)
	}
	painted := " " + row.At.Format("15:04") + " asked: Paint the shed in the yard green\n  - bugfix: "
	for _, text := range []string{want, painted} {
		if !strings.Contains(got.Text, text) {
			t.Errorf("no\n%s in\n%s", text, got.Text)
		}
	}
	if strings.Index(got.Text, "Paint the shed") > strings.Index(got.Text, "Sweep the yard") {
		t.Errorf("what the session was asked later stands before what it was asked first:\n%s", got.Text)
	}
	for _, id := range []events.ID{prompt.ID, late.ID, alone[0], fix, gone} {
		if !slices.Contains(got.IDs, id) {
			t.Errorf("%s is not among what was told", id)
		}
	}
	ask := shop("startup", s)
	ask.Characters = got.Characters - 10
	if short := w.mustContext(ask); !strings.Contains(short.Text, "bugfix: Green paint") || strings.Contains(short.Text, "Paint the shed") {
		t.Errorf("where there is no room for it, what one thing came of stands there, or that does not:\n%s", short.Text)
	}
	checkKnown := func(told []string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"asked: Mend the carousel in the yard", "bugfix: The timer was too fast", "discovery: The socket leaks in the rain"} {
			if !slices.Contains(told, want) {
				t.Errorf("%q is not among the lines that are known: %q", want, told)
			}
		}
	}
	w.put(s.Stream(), events.ContextInjected{Hook: "startup", IDs: got.IDs, Position: events.Moment(got.Position)})
	w.sync()
	checkKnown(w.InjectedLines(t.Context(), s))
	checkKnown(w.Lines(t.Context(), m(prompt)))
	if err := w.log.Erase(t.Context(), prompt.Position); err != nil {
		t.Fatal(err)
	}
	w.put(s.Stream(), events.MemoryForgotten{Positions: []events.Position{prompt.Position}})
	if got := w.mustContext(shop("startup", s)); !strings.Contains(got.Text, "- "+m(recs[0])+" "+at(recs[0])+" bugfix:") || strings.Contains(got.Text, "Mend") {
		t.Errorf("where the prompt is forgotten each stands for itself:\n%s", got.Text)
	}
}

// What is told of a prompt and its entry is not said again by the session's summary.
func TestRequestsAreToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.answered(s, 1, "Mend the carousel in the yard", "The timer was too fast", "The socket leaks in the rain")
	w.put(s.Stream(), events.SummaryParsed{Summary: newID(), Request: "Mend the carousel in the yard / Oil it", Completed: "- The timer was too fast — 1 file changed: timer.go\n- It turns again — 1 commit"})
	got := w.mustContext(shop("startup", events.SessionID{}))
	for _, want := range []string{"\n- Asked: Oil it\n- Done: It turns again — 1 commit\n", " asked: Mend the carousel in the yard\n  - bugfix: The timer was too fast"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("no %q in\n%s", want, got.Text)
		}
	}
	for _, said := range []string{"Mend the carousel", "too fast"} {
		if n := strings.Count(got.Text, said); n != 1 {
			t.Errorf("%q is said %d times:\n%s", said, n, got.Text)
		}
	}
}

// Of a session of which all else stands below, the files that were looked at alone are not shown; they are where there is nothing else.
func TestFilesLookedAtAreNotAllThatIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.answered(s, 1, "Mend the carousel in the yard", "The timer was too fast", "The socket leaks in the rain")
	w.put(s.Stream(), events.SummaryParsed{Summary: newID(), Request: "Mend the carousel in the yard", Investigated: "Read timer.go, socket.go", Learned: "The timer was too fast"})
	if got := w.mustContext(shop("startup", events.SessionID{})); strings.Contains(got.Text, "Looked at") || !strings.Contains(got.Text, ")\n- m") {
		t.Errorf("of a session that came to more:\n%s", got.Text)
	}
	for _, request := range []string{"", "Mend the carousel in the yard"} {
		w.put(s.Stream(), events.SummaryParsed{Summary: newID(), Request: request, Investigated: "Read timer.go, socket.go"})
		if got := w.mustContext(shop("startup", events.SessionID{})); !strings.Contains(got.Text, "- Looked at: Read timer.go, socket.go\n") {
			t.Errorf("of a session that came to nothing else:\n%s", got.Text)
		}
	}
}

// What the person was asked last is told until the session's next prompt answers it.
func TestWhatWasAskedIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.answered(s, 1, "Mend the carousel in the yard", "The timer was too fast")
	w.put(s.Stream(), events.SummaryParsed{Summary: newID(), Prompt: 1, Completed: "It turns again", NextSteps: "- " + events.AskedPerson + "Shall I oil it?\n- Sweep the yard"})
	for _, want := range []string{"Next steps: " + events.AskedPerson + "Shall I oil it? Sweep the yard", "Next steps: Sweep the yard"} {
		if got := w.mustContext(shop("startup", events.SessionID{})); !strings.Contains(got.Text, want) {
			t.Errorf("no %q in\n%s", want, got.Text)
		}
		w.put(s.Stream(), events.PromptSubmitted{Number: 2, Text: "No, leave it as it is"})
	}
}

// Rows of one entry are read once, however many of them are asked for: a report that names some is waited for.
func TestEntriesAreReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	titles := make([]string, 600)
	for i := range titles {
		titles[i] = fmt.Sprintf("Step %d of the carousel", i)
	}
	w.answered(w.open("a", "shop"), 1, "The carousel flickers", titles...)
	w.sync()
	list, err := w.views.RowsOf(t.Context(), events.SessionIDOf("codex", "a"))
	if err != nil || len(list) != 601 {
		t.Fatal(len(list), err)
	}
	entries, err := w.entriesOf(t.Context(), list, moment{})
	if err != nil || len(entries) != len(list) || len(entries[0]) != len(list) || &entries[0][0] != &entries[600][0] {
		t.Errorf("%d lists, the first of %d, %v: want one of %d, shared", len(entries), len(entries[0]), err, len(list))
	}
	lines, err := w.Lines(t.Context(), list[1].Handle().String(), list[2].Handle().String())
	if err != nil || len(lines) > 6*maxNamedRows || !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, titles[1]) }) {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

// A part says whether it is flagged, as its row does.
func TestPartsAreFlagged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.answered(s, 1, "The carousel flickers", "A carousel timer")
	absent := events.Claim{Kind: "commit", Value: "deadbee", Verdict: events.Absent}
	w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Prompt: 1, Title: "Shipped in deadbee", Claims: []events.Claim{absent}})
	got := w.mustSearch(Query{Text: "timer"}).Results
	if len(got) != 1 || len(got[0].Parts) != 2 || got[0].Parts[0].Flagged || !got[0].Parts[1].Flagged {
		t.Errorf("got %+v, want the second part flagged", got)
	}
}

// What a session that moved within its work did in another project is told there, and not here.
func TestEntriesOfTwoProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.answered(s, 1, "The carousel flickers")
	w.open("a", "bank")
	vault := newID()
	w.put(s.Stream(), events.ObservationParsed{Observation: vault, Prompt: 1, Type: "bugfix", Title: "The vault was mended"})
	got := w.mustSearch(Query{Text: "vault", Project: "/src/bank"}).Results
	if len(got) != 1 || got[0].ID != vault || len(got[0].Parts) != 0 {
		t.Errorf("search: got %+v", got)
	}
	for _, project := range []string{"/src/bank", "bank"} {
		tl, err := w.Timeline(t.Context(), TimelineQuery{Anchor: "now", Project: project})
		if err != nil || len(tl.Before) != 1 || tl.Before[0].ID != vault {
			t.Errorf("timeline of %s: got %+v, %v", project, tl.Before, err)
		}
	}
}

// TestPartsOfALargeEntry are the first of its own project, wherever in the entry the row stands that they are shown beside.
func TestPartsOfALargeEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.open("a", "bank")
	titles := make([]string, 2*maxParts+1)
	for i := range titles {
		titles[i] = fmt.Sprintf("Step %d of the carousel", i)
	}
	vaults := w.answered(s, 1, "Mend it", titles...)
	w.open("a", "shop")
	for i := range titles {
		titles[i] = fmt.Sprintf("Part %d of the socket", i)
	}
	own := w.answered(s, 1, "Go on", titles...)
	w.sync()
	list, err := w.views.Rows(t.Context(), own[0], own[2*maxParts], vaults[1])
	if err != nil {
		t.Fatal(err)
	}
	entries, err := w.entriesOf(t.Context(), list, moment{})
	found, failed := w.Parts(t.Context(), list...)
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	for i, row := range list {
		var want, got []events.ID
		for _, other := range entries[i] {
			if other.ID != row.ID && projectOf(*other) == projectOf(row) && len(want) < maxParts {
				want = append(want, other.ID)
			}
		}
		for _, p := range found[row.ID] {
			got = append(got, p.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != maxParts {
			t.Errorf("beside row %d of %s: %d parts (-want +got):\n%s", i, projectOf(row), len(got), diff)
		}
	}
}

// What was asked is known again as it is told, however it was written.
func TestRequestsAreKnownAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.answered(s, 1, "## The yard\n- Mend the carousel in the yard\n- Look at the **socket** too, since it leaks in the rain", "The timer was too fast", "The socket leaks in the rain")
	got := w.mustContext(shop("startup", events.SessionID{}))
	_, asked, found := strings.Cut(got.Text, " asked: ")
	asked, _, _ = strings.Cut(asked, "\n")
	w.put(s.Stream(), events.ContextInjected{Hook: "startup", IDs: got.IDs, Position: events.Moment(got.Position)})
	w.sync()
	if lines, err := w.InjectedLines(t.Context(), s); err != nil || !found || !slices.Contains(lines, "asked: "+asked) {
		t.Errorf("%q is not among the lines that are known, %v: %q", asked, err, lines)
	}
}

// What the last session did stands below its summary, with headings for other days than the summary's alone; where there is no room for the
// summary, it is earlier work like all other.
func TestTheLastSessionStandsTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, last := w.open("a", "shop"), w.open("b", "shop")
	w.answered(before, 1, "Mend the carousel in the yard", "The timer was too fast")
	w.put(before.Stream(), events.SummaryParsed{Summary: newID(), Request: "Mend the carousel in the yard"})
	w.answered(last, 1, "Paint the fence of the shed", "The fence was red")
	w.now = w.now.Add(24 * time.Hour)
	w.answered(last, 2, "Paint the roof of the shed", "The roof was flat")
	w.put(last.Stream(), events.SummaryParsed{Summary: newID(), Request: "Paint the fence of the shed", Notes: "The brush is worn out."})

	order := func(text string) (lines []string) {
		for line := range strings.Lines(text) {
			for _, words := range []string{"## ", "worn out", "too fast", "was red", "was flat"} {
				if strings.Contains(line, words) {
					lines = append(lines, words)
				}
			}
		}
		return lines
	}
	ask := shop("startup", events.SessionID{})
	got := w.mustContext(ask)
	want := []string{"## ", "worn out", "was flat", "## ", "was red", "## ", "## ", "too fast"} // last session; its day before; earlier work, and its day
	if diff := cmp.Diff(want, order(got.Text)); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, got.Text)
	}
	for strings.Contains(got.Text, "## Last session") {
		ask.Characters = got.Characters - 1
		if got = w.mustContext(ask); got.Text == "" {
			t.Fatal("no text leaves out the summary alone")
		}
	}
	if strings.Count(got.Text, "\n## ") != 1 || !strings.Contains(got.Text, "## Earlier work") {
		t.Errorf("without the summary:\n%s", got.Text)
	}
}

// A last session of which other sessions say all, and of whose own work nothing is shown, is no empty heading.
func TestTheLastSessionIsNoEmptyHeading(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answered(w.open("a", "shop"), 1, "Mend the carousel in the yard", "The timer was too fast")
	w.put(w.open("b", "shop").Stream(), events.SummaryParsed{Summary: newID(), Learned: "The timer was too fast"})
	if got := w.mustContext(shop("startup", events.SessionID{})); !strings.Contains(got.Text, ")\n- Learned: The timer was too fast\n## Earlier work") {
		t.Errorf("got\n%s", got.Text)
	}
}
