package recall

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSortsAndFacets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.observe(w.open("a", "shop"), "bugfix", "Carousel carousel carousel", "")
	second := w.observe(w.open("b", "bank"), "change", "A note", "the carousel stands beside many other words that are of no use here")
	both := []events.ID{first, second}
	back := []events.ID{second, first}
	for sort, want := range map[Sort][]events.ID{"": both, Relevance: both, Oldest: both, Newest: back} {
		if diff := cmp.Diff(want, idsOf(w.mustSearch(Query{Text: "carousel", Sort: sort}).Results)); diff != "" {
			t.Errorf("%q: -want +got\n%s", sort, diff)
		}
	}
	got := w.mustSearch(Query{Text: "carousel", Facets: true, Limit: 1}).Facets
	if diff := cmp.Diff([]Count{{Value: "bank", Count: 1}, {Value: "shop", Count: 1}}, got.Project); diff != "" {
		t.Errorf("projects: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]Count{{Value: "bugfix", Count: 1}, {Value: "change", Count: 1}}, got.Type); diff != "" || got.File == nil || len(got.Month) != 1 {
		t.Errorf("got %+v; types: -want +got\n%s", got, diff)
	}
	for _, q := range []Query{{Sort: "best"}, {Recency: 11}, {Recency: math.NaN()}} {
		if _, err := w.Search(t.Context(), q); !errors.Is(err, ErrBadQuery) {
			t.Errorf("%+v: got %v, want %v", q, err, ErrBadQuery)
		}
	}
}

// An explanation leads from the words and where they stand to the very score that is shown.
func TestExplain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.put(s.Stream(), events.ObservationParsed{
		Observation: newID(), Type: "bugfix", Title: "Carousel stopped", Narrative: "The carousel's motor stopped.",
		Facts: []string{"motor 4"}, FilesModified: []string{"/src/shop/carousel_motor.go"},
	})
	w.observe(s, "change", "Notes", "nothing of it")
	got := w.mustSearch(Query{Text: "why did the carousel motor stop", Explain: true}).Results
	if len(got) != 1 || got[0].Explain == nil {
		t.Fatalf("got %+v", got)
	}
	e := got[0].Explain
	want := map[string]map[string]int{
		"carousel":      {"title": 1, "narrative": 1, "files": 1},
		"motor":         {"narrative": 1, "facts": 1, "files": 1},
		"stop":          {"title": 1, "narrative": 1},
		"carouselmotor": {},
	}
	for _, term := range e.Terms {
		if term.Score <= 0 || term.Documents != 1 {
			t.Errorf("%+v", term)
		}
		if diff := cmp.Diff(want[term.Term], term.Fields); diff != "" {
			t.Errorf("%s: -want +got\n%s", term.Term, diff)
		}
		delete(want, term.Term)
	}
	delete(want, "carouselmotor") // the file's name has an ending
	if len(want) > 0 {
		t.Errorf("no word of %v", want)
	}
	sum := (e.Words*e.Kind*(1+e.Recency) + e.Session + e.Date + e.Near) * (1 + e.Phrase)
	if math.Abs(sum-got[0].Score) > 1e-9 || e.Phrase == 0 {
		t.Errorf("%+v makes %v, the score is %v", e, sum, got[0].Score)
	}
	if again := w.mustSearch(Query{Text: "carousel"}).Results; again[0].Explain != nil {
		t.Error("explained though nobody asked")
	}
}

func TestNearDuplicatesAreFolded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := "The carousel waited for the lock of the cart while the cart waited for the carousel. We now take both in the order of their names, " +
		"and a test holds that with a hundred goroutines; the old order stays for reading, as readers take one of them alone and never wait for the other one."
	first := w.observe(w.open("a", "shop"), "bugfix", "Deadlock of carousel and cart", long)
	again := w.observe(w.open("b", "shop"), "bugfix", "Deadlock of carousel and cart", long+" Done.")
	elsewhere := w.observe(w.open("c", "bank"), "bugfix", "Deadlock of carousel and cart", long)
	other := w.observe(w.open("d", "shop"), "bugfix", "Carousel", "The carousel turns the other way round since the motor was changed in spring.")
	got := w.mustSearch(Query{Text: "carousel cart deadlock"})
	var shown []events.ID
	for _, it := range got.Results {
		shown = append(shown, it.ID)
		if it.Project != "shop" || it.ID == other {
			continue
		}
		shown = append(shown, it.Similar...)
		if it.Count != 2 || len(it.Similar) != 1 {
			t.Errorf("got count %d, similar %v, want 2 and one", it.Count, it.Similar)
		}
	}
	if diff := cmp.Diff(names([]events.ID{first, again, elsewhere, other}), names(shown)); diff != "" || got.Total != 3 || len(got.Results) != 3 {
		t.Errorf("total %d; -want +got\n%s", got.Total, diff)
	}
	for limit := 1; limit <= 4; limit++ {
		if got := w.mustSearch(Query{Text: "carousel cart deadlock", Limit: limit}); got.Total != 3 {
			t.Errorf("pages of %d: total %d, want 3", limit, got.Total)
		}
	}
	if n := len(w.mustSearch(Query{Project: "shop"}).Results); n != 3 {
		t.Errorf("%d rows without words, want all 3: nothing is folded in a list", n)
	}
}

func TestAlikeIsTheSharedPart(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-p]{1,2}`)
	text := rapid.SliceOfN(word, 0, 90)
	changes := rapid.SliceOfN(word, 0, 4)
	judge := func(t rapid.TB, first, second []string) bool {
		t.Helper()
		var f folds
		x, y := f.sketch(&rows.Row{Narrative: strings.Join(first, " ")}), f.sketch(&rows.Row{Narrative: strings.Join(second, " ")})
		lowest := slices.Concat(x, y)
		slices.Sort(lowest)
		lowest = slices.Compact(lowest)
		lowest = lowest[:min(len(lowest), sketchSize)]
		both := 0
		for _, h := range lowest {
			if slices.Contains(x, h) && slices.Contains(y, h) {
				both++
			}
		}
		want := float64(both)/float64(len(lowest)) >= sameness
		if got := alike(x, y); got != want || got != alike(y, x) || !alike(x, x) {
			t.Fatalf("got %t, want %t: %d of %d", got, want, both, len(lowest))
		}
		return want
	}
	long := strings.Fields(strings.Repeat("a b c d e f g h i j k l m n o p aa ab ac ", 4))
	if !judge(t, long, append(slices.Clone(long), "ad")) || judge(t, long, []string{"ba", "bb", "bc", "bd", "be"}) {
		t.Error("a word more makes another text, or other words the same one")
	}
	rapid.Check(t, func(t *rapid.T) {
		first := text.Draw(t, "first")
		judge(t, first, slices.Concat(changes.Draw(t, "before"), first, changes.Draw(t, "behind")))
	})
}

func TestCloseness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, words string
		want        float64
	}{
		{"the session store was lost", "session store", phraseWeight},
		{"Sessions' stores were lost", "session store", phraseWeight},
		{"the store of the session", "session store", phraseWeight / 4},
		{"a session, and far, far, far, far away at last, as ever and ever, a store", "session store", 0},
		{"obsession storeless", "session stork", 0},
		{"session", "session", 0},
		{"one two three four five", "one two three four five", phraseMost},
		{"昨天支付网关超时", "支付 付网 网关", phraseWeight},
		{"支付了网关", "支付 付网 网关", 0},
		{"调用store超时", "store 超时", phraseWeight},
		{"昨天—session store", "session store", phraseWeight},
		{"", "session store", 0},
	} {
		got := phraseBoost(rows.Row{Narrative: c.text}, strings.Fields(c.words))
		if math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%q in %q: got %v, want %v", c.words, c.text, got, c.want)
		}
	}
}

// Between words of different texts lie the lines of the texts that the row does not have.
func TestEmptyTextsKeepWordsApart(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("x", 37)
	for name, c := range map[string]struct {
		row  rows.Row
		want float64
	}{
		"title and subtitle":        {rows.Row{Title: "session", Subtitle: "store"}, phraseWeight},
		"title and narrative":       {rows.Row{Title: "session", Narrative: "store"}, phraseWeight},
		"title and text":            {rows.Row{Title: "session", Text: "store"}, phraseWeight},
		"title and fact":            {rows.Row{Title: "session", Facts: []string{"store"}}, phraseWeight},
		"request and learned":       {rows.Row{Request: "session", Learned: "store"}, phraseWeight},
		"title and next steps":      {rows.Row{Title: "session", NextSteps: "store"}, phraseWeight / 4},
		"40 bytes to the subtitle":  {rows.Row{Title: "session " + far, Subtitle: " store"}, phraseWeight / 4},
		"42 bytes to the narrative": {rows.Row{Title: "session " + far, Narrative: " store"}, 0},
	} {
		if got := phraseBoost(c.row, []string{"session", "store"}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// Fusing shows each row once and loses none, and rows that no other list tells apart stay in the order of their list.
func TestFusedOrder(t *testing.T) {
	t.Parallel()
	ids := make([]events.ID, 12)
	for i := range ids {
		ids[i] = newID()
	}
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string) []events.ID {
			return rapid.Permutation(ids).Draw(t, name)[:rapid.IntRange(0, len(ids)).Draw(t, name+" found")]
		}
		byWords, byVectors := some("words"), some("vectors")
		l := resultSet{seen: map[events.ID]bool{}, place: map[events.ID]int{}, entry: map[rows.Entry]int{}, semantic: semanticHits{used: true}}
		for _, id := range byWords {
			l.seen[id] = false
			l.show(hit{row: &rows.Row{ID: id}})
		}
		for _, id := range slices.Concat(byVectors, byVectors[:min(1, len(byVectors))]) { // the first comes twice
			l.semantic.hits = append(l.semantic.hits, hit{row: &rows.Row{ID: id}})
		}
		l.mergeSemantic()
		at := map[events.ID]int{}
		for i, h := range l.shown {
			if _, twice := at[h.row.ID]; twice || i > 0 && h.score > l.shown[i-1].score || l.place[h.row.ID] != i {
				t.Fatalf("%d: %v of %v", i, h.row.ID, l.shown)
			}
			at[h.row.ID] = i
		}
		for _, id := range slices.Concat(byWords, byVectors) {
			if _, found := at[id]; !found {
				t.Fatalf("%v is lost", id)
			}
		}
		keepsOrder(t, at, byWords, byVectors)
		keepsOrder(t, at, byVectors, byWords)
	})
}

// keepsOrder holds that what list has and other has not is in the order of list.
func keepsOrder(t *rapid.T, at map[events.ID]int, list, other []events.ID) {
	last := -1
	for _, id := range list {
		if slices.Contains(other, id) {
			continue
		}
		if at[id] < last {
			t.Fatalf("%v came before what stands before it in %v", id, list)
		}
		last = at[id]
	}
}

// The common order keeps every list's own, and prefers what both lists have near their beginning.
func TestScoreOfRanks(t *testing.T) {
	t.Parallel()
	if got := (Ranks{Words: 1, Vectors: 1}).score(); math.Abs(got-1) > 1e-9 {
		t.Errorf("the first of both has %v, want 1", got)
	}
	order := []Ranks{{3, 2}, {Words: 1}, {Words: 2}, {Vectors: 3}, {}}
	if !slices.IsSortedFunc(order, func(a, b Ranks) int { return byScore(hit{score: a.score()}, hit{score: b.score()}) }) {
		t.Errorf("not in order: %v", order)
	}
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(1, 1000)
		r := Ranks{Words: rank.Draw(t, "words"), Vectors: rank.Draw(t, "vectors")}
		alone := Ranks{Words: r.Words}
		if r.score() <= alone.score() || alone.score() <= (Ranks{Words: r.Words + 1}).score() || alone.score() != (Ranks{Vectors: r.Words}).score() {
			t.Fatalf("%v", r)
		}
	})
}

// Whichever folder of a project is named, what was done in the others is found too.
func TestProjectMeansAllItsFolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []events.ID
	for _, root := range []string{"/src/shop", "/src/shop-worktree"} {
		id := events.SessionIDOf("codex", root)
		w.put(id.Stream(), events.SessionOpened{Agent: "codex", AgentSession: root, Project: "shop", ProjectRoot: root, ProjectKey: "remote:shop", Source: "startup"})
		want = append(want, w.observe(id, "change", "Carousel", "in "+root))
	}
	w.observe(w.open("other", "bank"), "change", "Carousel", "elsewhere")
	for _, root := range []string{"/src/shop", "/src/shop-worktree"} {
		got := w.mustSearch(Query{Text: "carousel", Project: root})
		if diff := cmp.Diff(names(want), names(idsOf(got.Results))); diff != "" || got.Total != 2 {
			t.Errorf("%s: total %d, -want +got\n%s", root, got.Total, diff)
		}
	}
}
