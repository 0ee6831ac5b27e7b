package recall

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

func TestSentencesOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                    nil,
		"One here. Two here.": {"One here.", "Two here."},
		"# Head\n- **First** item\n2. Second item. And more\n\n| a | b |": {"First item", "Second item.", "And more"},
		"Run this:\n```\ngo test\n```\nDone now.":                         {"Run this:", "Done now."},
		"~~~\nnever closed": nil,
	} {
		if d := cmp.Diff(want, sentencesOf(text)); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

// TestWeightiest: of a long text the sentences that say most are given, whole and in their order, and that of the title before all.
func TestWeightiest(t *testing.T) {
	t.Parallel()
	row := rows.Row{Narrative: "Let me look at it first.\n\nAll of that reads quite well to me. The queue in drain.go is emptied twice because closeAll() is called by both. " +
		"Nothing else was to be seen here.\n\n- It takes 900 ms in cart_test.go"}
	all := "All of that reads quite well to me. The queue in drain.go is emptied twice because closeAll() is called by both. Nothing else was to be seen here. It takes 900 ms in cart_test.go"
	for limit, want := range map[int]string{
		1000: all,
		130:  "All of that reads quite well to me. The queue in drain.go is emptied twice because closeAll() is called by both.",
		100:  "The queue in drain.go is emptied twice because closeAll() is called by both.",
		10:   "",
	} {
		said := saidTexts{}
		if got := said.weightiest(readingOf(&row), limit, false); got != want {
			t.Errorf("in %d characters: %q, want %q", limit, got, want)
		}
	}
	named := row
	named.Title = "Nothing else was to be seen…"
	if got, want := (&saidTexts{}).weightiest(readingOf(&named), 40, false), "Nothing else was to be seen here."; got != want {
		t.Errorf("of a row whose title is the beginning of a sentence: %q, want %q", got, want)
	}
	said := saidTexts{}
	said.add("The queue in drain.go is emptied twice because closeAll() is called by both")
	if got := said.weightiest(readingOf(&row), 130, false); strings.Contains(got, "queue") || !strings.Contains(got, "900 ms") {
		t.Errorf("beside what was said: %q", got)
	}
}

// TestUnsaid: a text is cut behind a sentence, but for one that alone is longer; items of a list are told apart.
func TestUnsaid(t *testing.T) {
	t.Parallel()
	long := "Then " + strings.Repeat("word ", 40) + "end"
	for text, want := range map[string]string{
		"One is here. Two is there.": "One is here. Two is there.",
		"One is here. " + long:       "One is here.",
		long:                         long,
		"- Ship the cart\n- Test it": "Ship the cart; Test it",
	} {
		said := saidTexts{}
		if got := said.unsaid(text, 60); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestSaidInAnyScript: a sentence counts as said in a language without blanks too.
func TestSaidInAnyScript(t *testing.T) {
	t.Parallel()
	said := saidTexts{}
	said.add("原因は二つです。")
	if !said.has("原因は二つです") || said.has("原因は三つです。") {
		t.Error("a sentence without blanks is not known again")
	}
	said.add("はい。")
	if said.has("はい。") {
		t.Error("a word that stands in any text counts as said")
	}
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	const text = "The sum is right now, since cents are whole. More of it."
	for title, want := range map[string]bool{
		"The sum is right now…":                           true,
		"Change cart.go: The sum is right now, since ce…": true,
		"Make the sum right":                              false,
		"The sum":                                         true, // few words, but the first
		"is right":                                        false,
	} {
		if got := quotes(title, text); got != want {
			t.Errorf("%q: %v", title, got)
		}
	}
}

// TestQuotesWhatHeldBefore: that a title says what held before a change hides neither what it names nor what announces it.
func TestQuotesWhatHeldBefore(t *testing.T) {
	t.Parallel()
	const text = "Before cart.go was changed: The sum uses:\n- `rateOf()` for each country\n- `taxOf()` for each item of the cart"
	for title, want := range map[string]bool{
		"Before cart.go was changed: The sum uses: taxOf() for each item of…": true,
		"Before cart.go was changed: taxOf() for each item of…":               true,
		"Before cart.go was changed: The page uses: a table of its own":       false,
	} {
		if got := quotes(title, text); got != want {
			t.Errorf("%q: %v", title, got)
		}
	}
}

// TestNothingIsToldTwice: what the lines of rows say the newest summary does not say too, and a row of which nothing is left is no line.
func TestNothingIsToldTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	const cause = "The queue in drain.go is emptied twice because closeAll() is called by both."
	whole := w.observe(s, "bugfix", "Empty the queue once", cause+" The lock in cart.go is held for 900 ms.")
	again := w.observe(s, "discovery", strings.TrimPrefix(cause, "The "), "")
	first := w.observe(s, "discovery", cause, "")
	w.observe(s, "change", "Hold the lock for less time", "Committed as 1f2e3d4.")
	w.put(s.Stream(), events.SummaryParsed{Summary: newID(), Request: "Why is the cart empty?", Learned: cause, Completed: "- Hold the lock for less time — 1 commit\n- The door is shut"})
	w.sync()
	ask := shop("startup", w.open("b", "shop"))
	ask.Explain = true
	got := w.mustContext(ask)
	if n := strings.Count(got.Text, "emptied twice"); n != 1 {
		t.Errorf("the cause is told %d times:\n%s", n, got.Text)
	}
	if !strings.Contains(got.Text, "Empty the queue once — The lock in cart.go is held for 900 ms.") {
		t.Errorf("what is left of a row is not told:\n%s", got.Text)
	}
	if !strings.Contains(got.Text, "- Done: The door is shut\n- m") {
		t.Errorf("the summary says what the rows say, or not what they leave:\n%s", got.Text)
	}
	if !slices.Contains(got.IDs, whole) || !slices.Contains(got.IDs, first) || slices.Contains(got.IDs, again) {
		t.Errorf("told are %v, want %v and %v, and not %v", got.IDs, whole, first, again)
	}
	for _, c := range got.Explain {
		if c.ID == again && (c.Chosen || c.Why != "said by others") {
			t.Errorf("of the row that says nothing more it is said: %+v", c)
		}
	}
}
