package extractive

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// told is what the extractor says of a prompt: type, title and narrative of each observation but the first.
func told(t *testing.T, p observer.Prompt) (lines []string) {
	t.Helper()
	p.Kind = events.TurnObservation
	all, err := New().observe(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		checkObservation(t, o)
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s: %s | %s", o.Type, o.Title, o.Narrative), " | "))
	}
	return lines
}

// working is a prompt with an edit, between which texts were said, one a minute from the first on.
func working(message string, said ...string) observer.Prompt {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	p := observer.Prompt{
		Cwd: "/src/shop", Request: "Make the cart show the right sum.", Message: message,
		Inputs: []observer.Input{{At: at.Add(time.Hour), Event: events.ToolUsed{
			Tool: "Edit", Cwd: "/src/shop", Input: `{"file_path":"/src/shop/cart.go","old_string":"a","new_string":"b"}`, Output: `{"filePath":"/src/shop/cart.go"}`,
		}}},
	}
	for i, s := range said {
		p.Said = append(p.Said, observer.Saying{At: at.Add(time.Duration(i) * time.Minute), Text: s})
	}
	return p
}

// TestFindings: what was said on the way and tells something is an observation of its own, quoted.
func TestFindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prompt observer.Prompt
		want   []string // beside the observation of the whole answer
	}{
		"announcements": {working("The sum is right now.", "Let me look at the cart.", "Now I'll run the tests:", "Perfect!"), nil},
		"a guess":       {working("The sum is right now.", "My first guess is that roundSum() doesn't see the carts, probably because of the lock."), nil},
		"a cause, and what stands beside it": {
			working("The sum is right now.", "I found it! The rounding happens twice because roundSum() is called by both sides. Nobody saw it on small carts. Let me fix it:"),
			[]string{"discovery: The rounding happens twice because roundSum() is called by both sides. | The rounding happens twice because roundSum() is called by both sides. Nobody saw it on small carts."},
		},
		"a decision": {
			working("The sum is right now.", "We keep whole cents rather than floats."),
			[]string{"decision: We keep whole cents rather than floats."},
		},
		"behind an announcement's dash": {
			working("The sum is right now.", "Let me see what taxOf does - it does not know the country's rate yet."),
			[]string{"discovery: it does not know the country's rate yet."},
		},
		"behind a dash, and half a sentence": {working("The sum is right now.", "Let me try something else - make taxOf() ask once, since the lock is slow:"), nil},
		"before a guess": {
			working("The sum is right now.", "The timeout of taxOf() defaults to 30 seconds - that's likely the issue."),
			[]string{"discovery: The timeout of taxOf() defaults to 30 seconds"},
		},
		"half a sentence": {working("The sum is right now.", "Found it!\n\nThe fix is to lock roundSum():"), nil},
		"said again at the end": {
			working("The rounding happened twice, because roundSum() was called by both sides of the cart.", "The rounding happens twice because roundSum() is called by both sides."),
			nil,
		},
		"said twice": {
			working("The sum is right now.", "The rounding happens twice because roundSum() is called by both sides.", "So the rounding happens twice because roundSum() is called by both sides."),
			[]string{"discovery: The rounding happens twice because roundSum() is called by both sides."},
		},
		"code and a question": {
			working("The sum is right now.", "```go\nroundSum() // because of taxOf()\n```\n\nShould I use roundSum() because of taxOf()?"),
			nil,
		},
		"markup": {
			working("The sum is right now.", "- **Cause:** `taxOf()` is never called, since the cart is not locked.\n- Something else that is said here"),
			[]string{"discovery: Cause: taxOf() is never called, since the cart is not locked. | Cause: `taxOf()` is never called, since the cart is not locked.\n- Something else that is said here"},
		},
		"a list and what announces it": {
			working("The sum is right now.", "The cart takes its sum from two places:\n- `roundSum()` is called by the page\n- `taxOf()` is called because the country is not known\n\nAll of this is said apart from it."),
			[]string{"discovery: The cart takes its sum from two places: taxOf() is called because the country is not known | The cart takes its sum from two places:\n- `roundSum()` is called by the page\n- `taxOf()` is called because the country is not known"},
		},
		"a list of which no item says anything": {
			working("The sum is right now.", "The rounding happens twice because `roundSum()` is called from two files:\n- `a.go`\n- `b.go`"),
			[]string{"discovery: The rounding happens twice because roundSum() is called from two files"},
		},
		"what announces code": {
			working("The sum is right now.", "The rounding happens twice because `roundSum()` is called here:\n```\nroundSum(c)\n```"),
			[]string{"discovery: The rounding happens twice because roundSum() is called here"},
		},
		"a list in Chinese": {
			working("The sum is right now.", "购物车的金额来自两个地方：\n- 页面调用 `roundSum()` 而且因为不知道国家所以调用 `taxOf()`"),
			[]string{"discovery: 购物车的金额来自两个地方: 页面调用 roundSum() 而且因为不知道国家所以调用 taxOf() | 购物车的金额来自两个地方：\n- 页面调用 `roundSum()` 而且因为不知道国家所以调用 `taxOf()`"},
		},
		"a list longer than a finding": {
			working("The sum is right now.", "None of these is true:\n- `roundSum()` is slow because "+strings.Repeat("it asks for each line again ", 11)+
				"\n- `taxOf()` fails because "+strings.Repeat("it knows no country at all ", 11)),
			[]string{"discovery: None of these is true: taxOf() fails because it knows no country at all it knows no country at all it knows no country at all it knows no… | None of these is true:\n- `roundSum()` is slow because " +
				strings.TrimSpace(strings.Repeat("it asks for each line again ", 11)) + "\n\nNone of these is true:\n- `taxOf()` fails because " +
				strings.TrimSpace(strings.Repeat("it knows no country at all ", 11))},
		},
		"a list of plans": {
			working("The sum is right now.", "Let me do this:\n- call `roundSum()` once because it is slow\n- test taxOf()"), nil,
		},
		"a menu and what was chosen": {
			working("The sum is right now.", "We have two options:\n1. Round in `roundSum()`\n2. Round in `taxOf()`\n\nI chose the first rather than the second, which knows no country."),
			[]string{"decision: I chose the first rather than the second, which knows no country. | I chose the first rather than the second, which knows no country.\n\nWe have two options:\n- Round in `roundSum()`\n- Round in `taxOf()`"},
		},
		"a menu alone": {
			working("The sum is right now.", "There are two options:\n1. Round in roundSum(), because it is slow\n2. Round in taxOf()"), nil,
		},
		"behind where the agent looked": {
			working("The sum is right now.", "Looking at the page, taxOf() is never called because the cart is not locked."),
			[]string{"discovery: taxOf() is never called because the cart is not locked."},
		},
		"why the person is right": {
			working("The sum is right now.", "Good idea - to round at the end keeps the right cents in 3 lines of the cart."),
			[]string{"discovery: to round at the end keeps the right cents in 3 lines of the cart."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := told(t, c.prompt)
			if len(got) == 0 {
				t.Fatal("nothing was observed of the edit")
			}
			if d := cmp.Diff(c.want, got[1:], equateEmptyLists); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestFindingsThatWereSuperseded: what was thought on the way, tried, and spoken of again is not told as found.
func TestFindingsThatWereSuperseded(t *testing.T) {
	t.Parallel()
	const (
		read = `"file_path":"/src/shop/tax.go"`
		time = `"command":"time ./shop total"`
		edit = `"file_path":"/src/shop/cart.go","old_string":"a","new_string":"b"`
	)
	for name, c := range map[string]struct {
		steps []any // of one answer, in order: what was said, or a call as {tool, input, output}
		want  []string
	}{
		"and said otherwise at the end": {
			[]any{"The issue is that taxOf() is asked twice.", [3]string{"Edit", edit, ""}, "The sum was late since taxOf() had no timeout."},
			nil,
		},
		"and said otherwise on the way": {
			[]any{
				"The issue is that taxOf() is asked twice.", [3]string{"Edit", edit, ""}, "The delay must be in taxOf(), because ratesOf() is quick.",
				"The sum is right now.",
			},
			[]string{"discovery: The delay must be in taxOf(), because ratesOf() is quick."},
		},
		"and never tried": {
			[]any{[3]string{"Edit", edit, ""}, "The issue is that taxOf() is asked twice.", "The sum was late since taxOf() had no timeout."},
			[]string{"discovery: The issue is that taxOf() is asked twice."},
		},
		"of more than is said later": {
			[]any{"The issue is that taxOf() is asked by ratesOf().", [3]string{"Edit", edit, ""}, "The sum was late since taxOf() had no timeout."},
			[]string{"discovery: The issue is that taxOf() is asked by ratesOf()."},
		},
		"with a figure that was printed": {
			[]any{
				[3]string{"Read", read, `"wait = 45 // seconds\n"`}, "The issue is that taxOf() waits for 45 seconds.", [3]string{"Edit", edit, ""},
				"The sum was late since taxOf() had no timeout.",
			},
			[]string{"discovery: The issue is that taxOf() waits for 45 seconds."},
		},
		"with a figure that was not": {
			[]any{
				[3]string{"Read", read, `"wait = 450 // seconds\n"`}, "The issue is that taxOf() waits for 45 seconds.", [3]string{"Edit", edit, ""},
				"The sum was late since taxOf() had no timeout.",
			},
			nil,
		},
		"of a command that was run again": {
			[]any{
				[3]string{"Bash", time, `"0.81 total"`}, "It is still slow because 800 ms are lost in the cart.", [3]string{"Bash", time, `"0.02 total"`},
				[3]string{"Edit", edit, ""}, "The sum is right now.",
			},
			nil,
		},
		"of a command that was not": {
			[]any{
				[3]string{"Bash", time, `"0.81 total"`}, "It is still slow because 800 ms are lost in the cart.", [3]string{"Edit", edit, ""}, "The sum is right now.",
			},
			[]string{"discovery: It is still slow because 800 ms are lost in the cart."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, told(t, answering(c.steps))[1:], equateEmptyLists); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// answering is a prompt with what was said and done in one answer, in its order, a minute apart; the last that was said is its message.
func answering(steps []any) observer.Prompt {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	p := observer.Prompt{Cwd: "/src/shop", Request: "Make the cart show the right sum."}
	for _, s := range steps {
		at = at.Add(time.Minute)
		switch s := s.(type) {
		case string:
			p.Said = append(p.Said, observer.Saying{At: at, Text: s})
		case [3]string:
			p.Inputs = append(p.Inputs, observer.Input{At: at, Event: events.ToolUsed{Tool: s[0], Cwd: p.Cwd, Input: "{" + s[1] + "}", Output: s[2]}})
		}
	}
	last := len(p.Said) - 1
	p.Message, p.Said = p.Said[last].Text, p.Said[:last]
	return p
}

var equateEmptyLists = cmp.FilterValues(func(a, b []string) bool { return len(a)+len(b) == 0 }, cmp.Ignore())

// orTitle is o's narrative, or its title where that is all it says.
func orTitle(o observer.Observation) string {
	if o.Narrative == "" {
		return o.Title
	}
	return o.Narrative
}

// TestFindingsAreJoined: the steps in which the agent came to know something are one observation.
func TestFindingsAreJoined(t *testing.T) {
	t.Parallel()
	const (
		first  = "The view reads taxOf() once a row because nothing keeps it."
		second = "The table of rates is loaded anew since the loadRates() of rates.go has no cache."
		chosen = "I keep the table in cart.go rather than a cache of sums alone."
		past   = "The sum is asked of rateOf() twice because nobody keeps it."
		done   = "The cart shows the right sum."
	)
	long := strings.TrimSuffix(first, ".") + strings.Repeat(", and each page of the shop asks it again", 3) + "."
	longer := strings.TrimSuffix(second, ".") + strings.Repeat(", whoever of the clerks has it open", 3) + "."
	takes := [3]string{"Edit", `"file_path":"/src/shop/cart.go","old_string":"rateOf(c)","new_string":"kept(c)"`, ""}
	read := [3]string{"Read", `"file_path":"/src/shop/rates.go"`, "package shop"}
	edit := [3]string{"Edit", `"file_path":"/src/shop/shop.css","old_string":"a","new_string":"b"`, ""}
	for name, c := range map[string]struct {
		steps []any
		want  []string // what each narrative holds
	}{
		"nothing changed between": {[]any{first, read, second, edit, done}, []string{first + "\n\n" + second}},
		"a file changed between":  {[]any{long, edit, longer, edit, done}, []string{long, longer}},
		"and one is short":        {[]any{first, edit, longer, edit, done}, []string{first + "\n\n" + longer}},
		"and both are":            {[]any{first, edit, second, edit, done}, []string{first + "\n\n" + second}},
		"and one holds no more":   {[]any{past, takes, second, edit, done}, []string{"Before cart.go was changed: " + past, second}},
		"a decision":              {[]any{first, read, chosen, edit, done}, []string{first, chosen}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := New().observe(t.Context(), answering(c.steps))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range all[1:] {
				got = append(got, orTitle(o))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestFindingsAreBounded: of very much that was said the weightiest is kept, in its order.
func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	var steps []any
	for i := range 40 {
		var asking strings.Builder
		for j := range 10 {
			fmt.Fprintf(&asking, " and the cart%dof%d", j, i)
		}
		said := fmt.Sprintf("Step number%d of this is slow because of word%d%s.", i, i*i, asking.String())
		if i == 30 {
			said = "The lock in cart.go is held by roundSum() for 900 ms because taxOf() asks the server, and so does each of the pages of the shop that show a sum of any kind, whatever cart or customer it is of."
		}
		steps = append(steps, said, [3]string{"Edit", fmt.Sprintf(`"file_path":"/src/shop/f%d.go","old_string":"a","new_string":"b"`, i), ""})
	}
	got := told(t, answering(append(steps, "The sum is right now.")))
	if len(got) != 1+maxFindings {
		t.Fatalf("%d observations, want %d", len(got), 1+maxFindings)
	}
	if !strings.Contains(strings.Join(got, "\n"), "held by roundSum()") {
		t.Errorf("the weightiest is missing:\n%s", strings.Join(got, "\n"))
	}
}

// TestFindingBehindAFailure: what a command printed as it failed stands beside what was said of it.
func TestFindingBehindAFailure(t *testing.T) {
	t.Parallel()
	p := working("The sum is right now.", "The cart has no country in taxOf and roundSum, since sessions are not loaded.")
	p.Inputs = append([]observer.Input{{At: p.Said[0].At.Add(-time.Second), Event: events.ToolUsed{
		Tool: "Bash", Cwd: "/src/shop", Failed: true, Input: `{"command":"go test ./..."}`, Output: "Exit code 1\ncart_test.go:12: sum is 0 of taxOf in roundSum\nFAIL",
	}}}, p.Inputs...)
	all, err := New().observe(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1]
	if len(last.Facts) != 1 || !strings.Contains(last.Facts[0], "cart_test.go:12: sum is 0") {
		t.Errorf("facts %q, want the failure", last.Facts)
	}
}

// TestBornOut: a name that was printed, or a word of the person's, makes a sentence worth more.
func TestBornOut(t *testing.T) {
	t.Parallel()
	grep := events.ToolUsed{Tool: "Grep", Input: `{"pattern":"total"}`, Output: "cart.go:1: func roundSum()"}
	for s, want := range map[string]int{
		"It is roundSum() that does it.":          1,
		"It is taxOf() that does it.":             0,
		"The country is right there.":             1,
		"The country is right at `roundSum()`...": 2,
	} {
		r := reading{requestText: "which country?", prior: priorCalls{own: []*evidence.Call{evidence.Parse(grep)}}}
		if got := r.bornOut(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

// TestBearing: the line of an output that shares most with what was said behind it stands beside that as a fact, and is never told as
// words of the agent; lines of the web, of other servers and of subagents' answers are not quoted.
func TestBearing(t *testing.T) {
	t.Parallel()
	const said, line = "The lock in `roundSum` is held for 900ms because `taxOf` asks the server.", "cart.go:7: roundSum waits 900ms on taxOf"
	for _, c := range []struct {
		tool, input, output, want string
	}{
		{"Bash", `{"command":"go test -bench ."}`, "x\n" + line + "\ny", "Printed by `go test -bench .`: " + line},
		{"Read", `{"file_path":"/src/shop/cart.go"}`, "     6→x\n     7→\troundSum(900ms, taxOf) // waits", "Printed by cart.go: roundSum(900ms, taxOf) // waits"},
		{"Bash", `{"command":"cat x"}`, line + strings.Repeat("x", maxPrinted), ""},
		{"Bash", `{"command":"cat x"}`, "nothing of that", ""},
		{"Bash", `{"command":"cat x"}`, "The lock in roundSum is held for 900ms because taxOf asks the server", ""},
		{"WebFetch", `{"url":"https://example.org"}`, line, ""},
		{"mcp__notes__read", `{"id":"1"}`, line, ""},
		{"Task", `{"prompt":"look","subagent_type":"Explore"}`, line, ""},
	} {
		p := working("The sum is right now.", said)
		p.Inputs = append([]observer.Input{{At: p.Said[0].At.Add(-time.Second), Event: events.ToolUsed{Tool: c.tool, Cwd: "/src/shop", Input: c.input, Output: c.output}}}, p.Inputs...)
		all, err := New().observe(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var facts []string
		if c.want != "" {
			facts = []string{c.want}
		}
		last := all[len(all)-1]
		if d := cmp.Diff(facts, last.Facts); d != "" || !strings.Contains(last.Narrative, "asks the server") && c.want != "" {
			t.Errorf("%s: facts (-want +got):\n%s", c.tool, d)
		}
	}
}

// TestTalk: an answer without a tool call is observed where it says something that is worth keeping.
func TestTalk(t *testing.T) {
	t.Parallel()
	stop := func(message string) observer.Prompt {
		return observer.Prompt{Message: message, Request: "How is it kept?", Inputs: []observer.Input{{Event: events.AgentStopped{LastMessage: message}}}}
	}
	for message, want := range map[string][]string{
		"Yes, that is fine.":     nil,
		"Which one do you want?": nil,
		"The first line of `prompt.txt` is always shown there.": {
			"discovery: The first line of prompt.txt is always shown there. | The first line of `prompt.txt` is always shown there.",
		},
		"We keep bbolt rather than SQLite: it needs no second process, and its file is read while cmemd runs.": {
			"decision: We keep bbolt rather than SQLite: it needs no second process, and its file is read while cmemd runs. | " +
				"We keep bbolt rather than SQLite: it needs no second process, and its file is read while cmemd runs.",
		},
	} {
		if d := cmp.Diff(want, told(t, stop(message)), equateEmptyLists); d != "" {
			t.Errorf("%q (-want +got):\n%s", message, d)
		}
	}
}

// TestLeadsOfLists: what announces a list stays with it, also where it says nothing alone, or guesses.
func TestLeadsOfLists(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Only takes:\n- `cart.go`, because `Cart.Sum` rounds there\n- `tax.go`":                                       "Only takes:\n- `cart.go`, because `Cart.Sum` rounds there",
		"This looks like either:\n- `Cart.Sum` is not called in `cart.go`, or\n- the tax does not round":              "This looks like either:\n- `Cart.Sum` is not called in `cart.go`, or\n- the tax does not round",
		"`Cart.Sum` is wrong because `cart.go` does not round, so I'll write a rule for it. All of it is slow there.": "`Cart.Sum` is wrong because `cart.go` does not round. All of it is slow there.",
	} {
		all := findingsIn(text, "", priorCalls{})
		if len(all) != 1 || all[0].text != want {
			t.Errorf("%q: %+v", text, all)
		}
	}
}

// TestFindingsAreCalledByWhatStandsAlone: the title of what was found is a sentence that speaks of no other, where there is one.
func TestFindingsAreCalledByWhatStandsAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"`Cart.Sum` rounds in `cart.go` alone. It does not round in `tax.go`, because `rateOf()` does.": "`Cart.Sum` rounds in `cart.go` alone.",
		"All is well. It does not round in `tax.go`, because `rateOf()` does.":                          "It does not round in `tax.go`, because `rateOf()` does.",
	} {
		all := findingsIn(text, "", priorCalls{})
		if len(all) != 1 || all[0].best != want || !strings.HasSuffix(text, all[0].text) {
			t.Errorf("%q: %+v", text, all)
		}
	}
}

// TestTalkThatWaits: an answer in words is not called by what it asks of the person.
func TestTalkThatWaits(t *testing.T) {
	t.Parallel()
	const message = "The shell turned `/F` into a path.\n\nAfter that, make `cart.go` by hand, or fetch it with `shop get`, and tell me which you did."
	p := observation(message, events.AgentStopped{LastMessage: message})
	if o := one(t, p); o.Title != "The shell turned /F into a path." {
		t.Errorf("title %q", o.Title)
	}
}

// TestLooksAlone: of reading and searching without a word about it, or with one of what comes next, nothing is kept; a call that failed and
// was made again did not fail.
func TestLooksAlone(t *testing.T) {
	t.Parallel()
	var looks []events.Event
	for i := range 6 {
		looks = append(looks, used("Read", map[string]any{"file_path": fmt.Sprintf("%s/f%d.go", cwd, i)}, "package shop", false))
	}
	for message, want := range map[string]int{
		"":                                0,
		"Six files, and the last wins.":   0,
		"So:\n\n```\na.go < b.go\n```":    1,
		"| a | b |\n|---|---|\n| 1 | 2 |": 1,
		"Let me think about all of this for a while. I'll come back to it once the others have read their parts of the shop.":   0,
		"The shop reads its prices from six files, of which the last one wins. Nothing checks that they agree with each other.": 1,
		"The shop rounds in `cart.go`, `tax.go` and `rates.go`.":                                                                1,
		"购物车的总额在三个地方四舍五入：cart.go、tax.go 和 rates.go。":                                                                            1,
		"I read `cart.go`.": 0,
	} {
		if got := len(ask(t, observation(message, looks...)).Observations); got != want {
			t.Errorf("%q: %d observations, want %d", message, got, want)
		}
	}
	plan := "The shop has no client for it, so I'll write one for all of the six files that it reads, and one more for the shop's own list of prices."
	handed := used("Task", map[string]any{"description": "Read all files", "prompt": "Read all of them."}, "", false)
	for _, looks := range [][]events.Event{looks, append(slices.Clone(looks), handed)} {
		if got := ask(t, observation(plan, looks...)).Observations; len(got) != 0 {
			t.Errorf("of a plan: %+v", got)
		}
	}
	retried := one(t, observation("The shop reads its prices from six files, of which the last one wins. Nothing checks that they agree with each other.",
		used("Report", map[string]any{"x": 1}, "does not match", true), used("Report", map[string]any{"x": []int{}}, "ok", false)))
	if facts := strings.Join(retried.Facts, " "); strings.Contains(facts, "failed") {
		t.Errorf("facts: %s", facts)
	}
}

// TestShortAnswers: a short answer behind a command is kept where it says what one without a call would be kept for.
func TestShortAnswers(t *testing.T) {
	t.Parallel()
	run := used("Bash", map[string]any{"command": "shop plugin add rates"}, "ok", false)
	for message, want := range map[string]int{
		"Added `rates` of `shop-plugins` for all shops.": 1,
		"Done, it is there now.":                         0,
		"":                                               0,
	} {
		if got := len(ask(t, observation(message, run)).Observations); got != want {
			t.Errorf("%q: %d observations, want %d", message, got, want)
		}
	}
}

// TestWordsBeforeTheLastCall: a report that the agent gave before its last call stands for last words that it has none of, unless something
// was changed behind it.
func TestWordsBeforeTheLastCall(t *testing.T) {
	t.Parallel()
	const report = "The shop takes no prices from outside.\n\n`cart.go` reads `rates.json` alone.\n\nNothing that a customer types reaches `Price.Parse`."
	read := [3]string{"Read", `"file_path":"/src/shop/rates.go"`, "package shop"}
	submit := [3]string{"Submit", `"findings":[]`, "accepted"}
	edit := [3]string{"Edit", `"file_path":"/src/shop/tax.go","old_string":"a","new_string":"b"`, ""}
	for name, c := range map[string]struct {
		steps []any
		want  string // the narrative of the first observation
		first string
	}{
		"a report":                   {[]any{read, report, submit, ""}, report, "The shop takes no prices from outside."},
		"a report before a change":   {[]any{read, report, edit, ""}, "Edited tax.go (1 edit).", "Change tax.go"},
		"what comes next":            {[]any{edit, "Let me see what is left to do in all of the other files of this shop, one after the other.", submit, ""}, "Edited tax.go (1 edit).", "Change tax.go"},
		"beside words that are last": {[]any{read, report, submit, "The shop is safe: `rates.go` and `cart.go` parse nothing."}, "The shop is safe: `rates.go` and `cart.go` parse nothing.", "The shop is safe: rates.go and cart.go parse nothing."},
	} {
		p := answering(c.steps)
		p.Request = "/review"
		all, err := New().observe(t.Context(), p)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %v, %v", name, all, err)
		}
		if all[0].Narrative != c.want || !strings.HasPrefix(all[0].Title, c.first) {
			t.Errorf("%s: %q: %q, want %q: %q", name, all[0].Title, all[0].Narrative, c.first, c.want)
		}
	}
}
