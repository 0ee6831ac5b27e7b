package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// openIn opens a session in a folder that is of a project.
func (w *world) openIn(native, root, key string) events.SessionID {
	id := events.SessionIDOf("codex", native)
	w.put(id.Stream(), events.SessionOpened{Agent: "codex", AgentSession: native, Project: "shop", ProjectRoot: root, ProjectKey: key, Cwd: root})
	return id
}

// Clones of one project share their memory; a folder of the same name does not, and nobody has to adopt anything.
func TestFoldersOfOneProjectShareMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const key = "remote:example.org/team/shop"
	before := w.observe(w.openIn("old", "/src/shop", ""), "bugfix", "Recorded before projects had keys", "")
	a := w.observe(w.openIn("a", "/src/shop", key), "bugfix", "In the first clone", "")
	b := w.observe(w.openIn("b", "/work/shop-2", key), "bugfix", "In the second clone", "")
	w.observe(w.openIn("c", "/other/shop", "dir:/other/shop/.git"), "bugfix", "Of another project of that name", "")
	for _, ask := range []Ask{
		{ProjectRoot: "/src/shop", Project: "shop"},
		{ProjectRoot: "/work/shop-2", Project: "shop-2"},
		{ProjectRoot: "/tmp/fresh-clone", Project: "shop", ProjectKey: key},
	} {
		got := w.mustContext(ask)
		if diff := cmp.Diff(names([]events.ID{before, a, b}), names(got.IDs)); diff != "" {
			t.Errorf("%s: -want +got\n%s\n%s", ask.ProjectRoot, diff, got.Text)
		}
	}
	if got := w.mustContext(Ask{ProjectRoot: "/other/shop", Project: "shop"}); len(got.IDs) != 1 {
		t.Errorf("the other project is told\n%s", got.Text)
	}
}

// What touched files that are still there comes before what touched files that are gone.
func TestFilesInTheTreeCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	observe := func(title, file string) events.ID {
		id := newID()
		w.put(s.Stream(), events.ObservationParsed{Observation: id, Type: "change", Title: title, FilesRead: []string{file}})
		return id
	}
	here, gone, unknown := observe("Here is one", "/src/shop/here.go"), observe("Gone is one", "/src/shop/gone.go"), w.observe(s, "change", "None is on", "")
	ask := shop("startup", events.SessionID{})
	ask.Explain, ask.Exists = true, func(f string) bool { return strings.HasSuffix(f, "/here.go") }
	got := w.mustContext(ask)
	worth := map[events.ID]float64{}
	for _, c := range got.Explain {
		product := 1.0
		for _, p := range c.Parts {
			product *= p.Factor
		}
		if product != c.Weight || c.Why != WhyWeight || !c.Chosen || c.Density <= 0 {
			t.Errorf("%s: %+v", c.Title, c)
		}
		worth[c.ID] = c.Weight
	}
	if !(worth[here] > worth[unknown] && worth[unknown] > worth[gone]) {
		t.Errorf("here %.3f, unknown %.3f, gone %.3f: want them in this order", worth[here], worth[unknown], worth[gone])
	}
}

// Where there is no room for all, what says why goes before newer rows that are shorter and say only what was done.
func TestWhatSaysWhyGoesBeforeShorterRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	why := w.observe(s, "discovery", "The crane stops because `Winch` must not turn below 5 degrees",
		"The crane stops because `Winch` must not turn below 5 degrees. The fix is to read the cold gauge of `mast.go` instead of the warm one.")
	for i := range 40 {
		w.observe(s, "discovery", fmt.Sprintf("There is a template for page %d of the manual.", i), "")
	}
	ask := shop("startup", events.SessionID{})
	ask.Characters = 1200
	if got := w.mustContext(ask); !slices.Contains(got.IDs, why) || len(got.IDs) < 4 {
		t.Errorf("the cause is not among these rows:\n%s", got.Text)
	}
}

// Where there is no room for all that the rows say, each is given the sentences of it that say most before one is given more; where there
// is, all.
func TestRowsShareTheRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	for i := range 9 {
		title := fmt.Sprintf("The import of page %d failed because `parse_%d.go` must not read more than 512 bytes", i, i)
		text := title + "."
		for j := range 6 {
			text += fmt.Sprintf(" Line %d of column %d is kept in `table_%d_%d.go`, beside the labels that came with the paper.", j, i, i, j)
		}
		w.observe(s, "discovery", title, text)
	}
	ask := shop("startup", events.SessionID{})
	for characters, whole := range map[int]bool{3000: false, MaxCharacters: true} {
		ask.Characters = characters
		got := w.mustContext(ask)
		for i := range 9 {
			if !strings.Contains(got.Text, fmt.Sprintf("because `parse_%d.go` must not read more than 512 bytes.", i)) ||
				whole && strings.Count(got.Text, fmt.Sprintf("`table_%d_", i)) < 6 {
				t.Errorf("of page %d not enough is said in %d characters:\n%s", i, characters, got.Text)
			}
		}
	}
}

// What was saved by hand keeps its place among observations that say much.
func TestNotesStandBesideWhatSaysMuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	note := newID()
	w.put(events.Projects, events.ProjectGiven{Name: "shop", Root: "/src/shop"})
	w.put(events.Daemon, events.MemorySaved{Memory: note, Project: "shop", Text: "Deploys of the shop go out on Mondays, once the queue of orders is drained"})
	for i := range 40 {
		why := fmt.Sprintf("The import of page %d failed because `parse_%d.go` must not read more than 512 bytes.", i, i)
		w.observe(s, "discovery", strings.TrimSuffix(why, "."), why+" The fix is to read all of `stream_a.go` instead of `stream_b.go`.")
	}
	ask := shop("startup", events.SessionID{})
	ask.Characters = 1500
	if got := w.mustContext(ask); !slices.Contains(got.IDs, note) {
		t.Errorf("the note is not among these rows:\n%s", got.Text)
	}
}

// The summary of an older session is left out where what came of its requests stands for itself and its next steps are too old to be
// given.
func TestOldNextStepsDoNotKeepASummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.open("old", "shop")
	w.put(old.Stream(), events.ObservationParsed{Observation: newID(), Prompt: 1, Type: "change", Title: "Draw the carousel"})
	summary := newID()
	w.put(old.Stream(), events.SummaryParsed{Summary: summary, Prompt: 1, Request: "Can you draw the carousel?", NextSteps: "Finish the carousel"})
	s := w.open("new", "shop")
	w.put(s.Stream(), events.SummaryParsed{Summary: newID(), Request: "Fix rounding"})
	for days, want := range map[int]bool{1: true, 20: false} {
		ask := shop("startup", events.SessionID{})
		ask.Now = w.now.AddDate(0, 0, days)
		if got := w.mustContext(ask); slices.Contains(got.IDs, summary) != want {
			t.Errorf("%d days later: the summary is given: %v, want %v\n%s", days, !want, want, got.Text)
		}
	}
}

func TestFilesAreAskedForOnceAndBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	for i := range newestObservations {
		var files []string
		for j := range 3 {
			files = append(files, fmt.Sprintf("/src/shop/f%d_%d.go", i, j))
		}
		w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Type: "change", Title: fmt.Sprint("Change ", i), FilesModified: append(files, "/src/shop/one.go")})
	}
	asked := map[string]int{}
	ask := shop("startup", events.SessionID{})
	ask.Exists = func(f string) bool { asked[f]++; return false }
	w.mustContext(ask)
	if len(asked) > maxExists || len(asked) < maxExists/2 || asked["/src/shop/one.go"] != 1 {
		t.Errorf("asked for %d files, want at most %d, each once", len(asked), maxExists)
	}
	for f, n := range asked {
		if n > 1 {
			t.Errorf("asked %d times for %s", n, f)
		}
	}
}

// A bound in tokens holds beside the one in characters, and is used.
func TestTokenBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	w.put(s.Stream(), events.SummaryParsed{Summary: newID(), Request: "Fix rounding", NextSteps: "Migrate old orders"})
	for i := range 80 {
		w.observe(s, "change", fmt.Sprintf("Routine change number %d of something", i), strings.Repeat("words and more words ", 20))
	}
	for _, limit := range []int{300, 1000, 2500} {
		ask := shop("startup", events.SessionID{})
		ask.Tokens = limit
		got := w.mustContext(ask)
		if n := Tokens(got.Text); n > limit || n != got.Tokens || n < limit*7/10 {
			t.Errorf("%d tokens, said to be %d, want nearly %d\n%s", n, got.Tokens, limit, got.Text)
		}
	}
	bounded := New(Config{Views: w.views, Index: w.index, Log: w.log, Fence: fenceName, Characters: 1200, Tokens: 250})
	got, err := bounded.Context(t.Context(), shop("startup", events.SessionID{}))
	if err != nil || got.Characters > 1200 || got.Tokens > 250 || len(got.IDs) == 0 {
		t.Errorf("with bounds of its own: %d characters, %d tokens, %d rows, %v", got.Characters, got.Tokens, len(got.IDs), err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "   ": 0, "a": 1, "word": 1, "words": 2, "two words": 3, "a.b": 3, "12345": 2, "日本語": 3, "für": 3, "x\ny": 3, "🎉": 1,
	} {
		if got := Tokens(text); got != want {
			t.Errorf("Tokens(%q) = %d, want %d", text, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		a, b := rapid.String().Draw(r, "a"), rapid.String().Draw(r, "b")
		both := Tokens(a + b)
		if both > Tokens(a)+Tokens(b) || both < max(Tokens(a), Tokens(b)) {
			r.Errorf("%q and %q: %d and %d, together %d", a, b, Tokens(a), Tokens(b), both)
		}
	})
}

func prompted(s events.SessionID, words string) Ask {
	return Ask{ProjectRoot: "/src/shop", Project: "shop", Source: SourcePrompt, Session: s, Prompt: words, Explain: true}
}

func TestPromptIsToldWhatBearsOnIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, mine := w.open("a", "shop"), w.open("b", "shop")
	rounding := w.observe(s, "bugfix", "Rounding of discounts lost a cent", "Discounts were floats; computeDiscount rounds half up now.")
	flaky := w.observe(s, "discovery", "Checkout test waited for the wrong lock", "")
	saved := newID()
	w.put(events.Daemon, events.MemorySaved{Memory: saved, ProjectRoot: "/src/shop", Project: "shop", Title: "Discounts", Text: "Never round a discount twice, see computeDiscount"})
	w.observe(s, "change", "The colour of buttons", "")
	w.observe(mine, "bugfix", "Rounding of discounts in my own session", "computeDiscount")
	w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Type: "bugfix", Title: "Rounding of discounts, a lie", Unseen: true})
	w.observe(w.open("c", "bank"), "bugfix", "Rounding of discounts elsewhere", "computeDiscount")
	for _, c := range []struct {
		prompt string
		want   []events.ID
	}{
		{"why does computeDiscount round discounts twice?", []events.ID{rounding, saved}},
		{"Fix the checkout lock", []events.ID{flaky}}, // all of it, though it is little
		{"the checkout lock, and payments with vouchers", nil},
		{"please add a test", nil},
		{"go", nil},
		{"", nil},
		{"what is the colour of the sky over London in winter, and of clouds?", nil},
	} {
		got := w.mustContext(prompted(mine, c.prompt))
		if diff := cmp.Diff(names(c.want), names(got.IDs)); diff != "" {
			t.Errorf("%q: -want +got\n%s\n%s", c.prompt, diff, got.Text)
		}
		if (got.Text == "") != (len(c.want) == 0) {
			t.Errorf("%q: got\n%s", c.prompt, got.Text)
		}
	}
	ask := prompted(mine, "why does computeDiscount round discounts after vouchers?")
	ask.Score = 9
	if got := w.mustContext(ask); got.Text != "" {
		t.Errorf("above a score of 9: got\n%s", got.Text)
	}
	w.put(mine.Stream(), events.ContextInjected{Hook: "prompt", IDs: []events.ID{rounding}, Position: 1})
	ask.Score = 0
	if got := w.mustContext(ask); !slices.Equal(got.IDs, []events.ID{saved}) {
		t.Errorf("what the conversation holds is told again:\n%s", got.Text)
	}
}

func TestPromptIsToldLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	for i := range 30 {
		w.observe(s, "bugfix", fmt.Sprintf("Rounding part %d", i), strings.Repeat("discount rounding ", 40)+fmt.Sprint(i))
	}
	got := w.mustContext(prompted(events.SessionID{}, "rounding of a part"))
	if len(got.IDs) != maxBriefRows || got.Characters > 600 || !strings.HasPrefix(got.Text, fenceOpen+"\n") || !strings.HasSuffix(got.Text, "\n"+fenceClose) {
		t.Errorf("%d rows in %d characters:\n%s", len(got.IDs), got.Characters, got.Text)
	}
}

// A summary says again what was observed in its session: at a prompt it is given only where no observation of that session has enough of
// the prompt, be that given now or before.
func TestAPromptIsGivenNoSummaryBesideWhatItSums(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, mine := w.open("a", "shop"), w.open("b", "shop")
	const cause = "computeDiscount rounds discounts twice because vouchers are counted before and after tax, capacity being 512 entries a cart"
	seen := w.observe(old, "bugfix", cause, cause+".")
	sum := newID()
	w.put(old.Stream(), events.SummaryParsed{Summary: sum, Prompt: 1, Request: "Why are discounts rounded twice?", Completed: cause})
	ask := prompted(mine, "why does computeDiscount round discounts after vouchers?")
	if got := w.mustContext(ask); !slices.Equal(got.IDs, []events.ID{seen}) {
		t.Errorf("beside the observation\n%s", got.Text)
	}
	w.put(mine.Stream(), events.ContextInjected{Hook: "start", IDs: []events.ID{seen}, Position: 1})
	if got := w.mustContext(ask); got.Text != "" {
		t.Errorf("after it was given\n%s", got.Text)
	}
	w.put(old.Stream(), events.MemoryForgotten{IDs: []events.ID{seen}})
	if got := w.mustContext(ask); !slices.Equal(got.IDs, []events.ID{sum}) {
		t.Errorf("without the observation\n%s", got.Text)
	}
}

func TestFileIsToldWhatWasObservedOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, mine := w.open("a", "shop"), w.open("b", "shop")
	on := func(s events.SessionID, title string, changed bool, files ...string) events.ID {
		id := newID()
		e := events.ObservationParsed{Observation: id, Type: "bugfix", Title: title, FilesRead: files}
		if changed {
			e.FilesRead, e.FilesModified = nil, files
		}
		w.put(s.Stream(), e)
		return id
	}
	read := on(s, "Cart was read", false, "/src/shop/cart/cart.go")
	on(s, "A file of that name", true, "/src/shop/other/cart.go")
	many := on(s, "Cart and many others", true, "/src/shop/cart/cart.go", "/src/shop/a.go", "/src/shop/b.go", "/src/shop/c.go")
	changed := w.now
	late := on(s, "Cart was fixed", true, "cart/cart.go")
	on(mine, "In my own session", true, "/src/shop/cart/cart.go")
	ask := Ask{ProjectRoot: "/src/shop", Project: "shop", Source: SourceFile, Session: mine, File: "/src/shop/cart/cart.go"}
	got := w.mustContext(ask)
	if diff := cmp.Diff(names([]events.ID{read, many, late}), names(got.IDs)); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, got.Text)
	}
	if !strings.Contains(got.Text, "on shop in cart/cart.go, kept by cmemd") || got.Characters > maxBrief {
		t.Errorf("got\n%s", got.Text)
	}
	ask.Changed = changed.Add(time.Second)
	if got := w.mustContext(ask); !slices.Equal(got.IDs, []events.ID{late}) {
		t.Errorf("what was said before the file changed is told:\n%s", got.Text)
	}
	ask.Changed = w.now.Add(time.Second)
	if got := w.mustContext(ask); got.Text != "" {
		t.Errorf("the file changed after all that was observed of it, yet:\n%s", got.Text)
	}
	ask.File, ask.Changed = "/src/shop/nothing.go", time.Time{}
	if got := w.mustContext(ask); got.Text != "" {
		t.Errorf("of an unknown file:\n%s", got.Text)
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	row := rows.Row{Title: "Migrating orders", Narrative: "parse_order in src/orders.go reads MAX_BATCH", Facts: []string{"24 orders"}}
	for prompt, want := range map[string]int{
		"migration of the order table": 2, "parse_order": 2, "look at src/orders.go": 2, "MAX_BATCH and parse_order": 4,
		"fix the tests": 0, "orders orders order": 1, "": 0,
	} {
		if got, _ := overlap(tellingWords(prompt), row); got != want {
			t.Errorf("overlap(%q) = %d, want %d", prompt, got, want)
		}
	}
}

// Every line of a context, without its id and time, is among those that the session is said to have been told.
func TestToldHoldsEveryLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, other := w.open("a", "shop"), w.open("b", "shop")
	first := w.observe(s, "bugfix", "Rounding lost a cent", "Half up now.")
	w.put(other.Stream(), events.SummaryParsed{Summary: newID(), Request: "Older", NextSteps: "Finish the carousel"})
	w.put(s.Stream(), events.SummaryParsed{Summary: newID(), Request: "Last", Learned: "Carts are cached", NextSteps: "Ship it"})
	forgotten := newID()
	w.put(events.Daemon, events.MemorySaved{Memory: forgotten, Project: "shop", ProjectRoot: "/src/shop", Title: "A secret"})
	got := w.mustContext(shop("startup", s))
	w.put(s.Stream(), events.ContextInjected{Hook: "startup", IDs: got.IDs, Position: events.Moment(got.Position)})
	w.put(events.Daemon, events.MemoryForgotten{IDs: []events.ID{forgotten}})
	w.sync()
	told, err := w.InjectedLines(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bugfix: Rounding lost a cent", "Half up now.", "Learned: Carts are cached", "Finish the carousel", "session: Older"} {
		if !slices.Contains(told, want) {
			t.Errorf("%q is not among %q", want, told)
		}
	}
	if strings.Contains(strings.Join(told, "\n"), "secret") {
		t.Errorf("what was forgotten is told of: %q", told)
	}
	lines, err := w.Lines(t.Context(), first.String()[:23], "00000000-0000", "x", "m1", "m999")
	if err != nil || !slices.Contains(lines, "bugfix: Rounding lost a cent") {
		t.Errorf("lines of one row: %q, %v", lines, err)
	}
	row, err := w.views.Row(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if byHandle, err := w.Lines(t.Context(), row.Handle().String()); err != nil || !slices.Equal(byHandle, lines) {
		t.Errorf("lines of the same row by its handle: %q, %v", byHandle, err)
	}
}
