package extractive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

func summaryPrompt(message string, observed ...events.ObservationParsed) observer.Prompt {
	return observer.Prompt{
		Kind: events.TurnSummary, Attempt: 1, Project: "shop", Cwd: cwd, Agent: "claude-code",
		Request: "Round the totals of the cart", Message: message, Observed: observed,
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	found := events.ObservationParsed{
		Type: "discovery", Title: "Where are totals rounded?", Narrative: "Totals are rounded in three places.\n\nThe first is the cart.",
		FilesRead: []string{cwd + "/cart.go", "/etc/hosts"},
	}
	done := events.ObservationParsed{
		Type: "bugfix", Title: "Round totals once", Subtitle: "1 file changed, tests passed", Narrative: "Done.",
		FilesRead: []string{cwd + "/total.go"}, FilesModified: []string{cwd + "/cart.go"},
		Facts: []string{"`go test ./...` passed", "[ ] Add a changelog line", "[x] Round once"},
	}
	asked := done
	looked := found
	looked.Title, looked.Facts = "how are the totals of the cart rounded?", []string{"Searched for: total", "`go test ./...` passed"}
	quoted := done
	quoted.Title = "Change cart.go: The totals are rounded once, at the end. See…"
	quoted.Narrative = "Done! The totals are rounded once, at the end. See the tests."
	asking := func(request string, p observer.Prompt) observer.Prompt {
		p.Request = request
		return p
	}
	empty, leading := done, done
	empty.Title, leading.Title = "Done.", "The totals are rounded once. Changes made:"
	askedBefore := func(p observer.Prompt, before ...string) observer.Prompt {
		p.Requests = before
		return p
	}
	claiming := func(o events.ObservationParsed) events.ObservationParsed {
		o.Claims = []events.Claim{{Kind: "commit", Value: "abc1234", Verdict: events.Absent}}
		return o
	}
	asked.Title, asked.Narrative = "Round the totals of the cart", "Done! The totals are rounded once, at the end. See the tests."
	short := events.ObservationParsed{Type: "discovery", Title: "`go test ./...` passed", Narrative: "Done.", FilesRead: []string{cwd + "/cart.go"}}
	shortAsked := short
	shortAsked.Title = "Round the totals of the cart"
	tests := []struct {
		name   string
		prompt observer.Prompt
		want   observer.Summary
	}{
		{"a discovery that says no more than its title", summaryPrompt("Done.", short), observer.Summary{
			Request: "Round the totals of the cart", Learned: "`go test ./...` passed",
		}},
		{"a discovery that says nothing", summaryPrompt("Done.", shortAsked), observer.Summary{
			Request: "Round the totals of the cart", Investigated: "Read cart.go",
		}},
		{"found and done", summaryPrompt("All done.", found, done), observer.Summary{
			Request:   "Round the totals of the cart",
			Learned:   "Totals are rounded in three places.\n\nThe first is the cart.",
			Completed: "Round totals once — 1 file changed, tests passed: cart.go",
			NextSteps: "Add a changelog line",
		}},
		{"the title is only the request", summaryPrompt("All done.", asked), observer.Summary{
			Request: "Round the totals of the cart", NextSteps: "Add a changelog line",
			Completed: "The totals are rounded once, at the end — 1 file changed, tests passed: cart.go",
		}},
		{"the title is the agent's first words", summaryPrompt("All done.", quoted), observer.Summary{
			Request: "Round the totals of the cart", NextSteps: "Add a changelog line",
			Completed: "The totals are rounded once, at the end. See the tests — 1 file changed, tests passed: cart.go",
		}},
		{"a discovery titled as it was asked for", asking(looked.Title, summaryPrompt("All done.", looked)), observer.Summary{
			Request: "how are the totals of the cart rounded?",
			Learned: "Totals are rounded in three places.\n\nThe first is the cart.",
		}},
		{"a word of consent", asking("yes", summaryPrompt("All done.", done, found)), observer.Summary{
			Learned:   "Totals are rounded in three places.\n\nThe first is the cart.",
			Completed: "Round totals once — 1 file changed, tests passed: cart.go",
			NextSteps: "Add a changelog line",
		}},
		{"a word of consent to what was asked before", asking("yes", askedBefore(summaryPrompt("All done.", done), "Round the totals of the cart, please")), observer.Summary{
			Request: "Round the totals of the cart, please", NextSteps: "Add a changelog line",
			Completed: "Round totals once — 1 file changed, tests passed: cart.go",
		}},
		{"several requests", askedBefore(summaryPrompt("All done.", done), "Why do the totals differ?", "yes", "/compact"), observer.Summary{
			Request:   "Why do the totals differ? / Round the totals of the cart",
			NextSteps: "Add a changelog line",
			Completed: "Round totals once — 1 file changed, tests passed: cart.go",
		}},
		{"a follow-up that is the last request", asking("and where is the report kept?", askedBefore(summaryPrompt("All done.", done), "Why do the totals differ?", "and where is the tax kept?")), observer.Summary{
			Request:   "Why do the totals differ? / and where is the report kept?",
			NextSteps: "Add a changelog line",
			Completed: "Round totals once — 1 file changed, tests passed: cart.go",
		}},
		{"a follow-up on an answer, and a command at the end", asking("<command-name>/tax</command-name>", askedBefore(summaryPrompt("All done.", done), "Why do the totals differ?", "Both of them, please, and then the report")), observer.Summary{
			Request:   "Why do the totals differ? / /tax",
			NextSteps: "Add a changelog line",
			Completed: "Round totals once — 1 file changed, tests passed: cart.go",
		}},
		{"drafts before what a discovery is titled by", summaryPrompt("All done.", events.ObservationParsed{
			Type: "discovery", Title: "The drafts differ in this: Two of them round…",
			Narrative: "Here are some drafts:\n\n**Draft A**\n\nRound late.\n\nThe drafts differ in this:\n- Two of them round once\n- One never does",
		}), observer.Summary{
			Request: "Round the totals of the cart",
			Learned: "The drafts differ in this:\n- Two of them round once\n- One never does",
		}},
		{"what was asked at the end of a discovery", summaryPrompt("All done.", events.ObservationParsed{
			Type: "discovery", Title: "Totals are rounded in three places.",
			Narrative: "Totals are rounded in three places.\n\nWhere shall they be rounded? Options:\n1. In the cart\n2. At the end",
		}), observer.Summary{Request: "Round the totals of the cart", Learned: "Totals are rounded in three places."}},
		{"a decision with its options, and one that waits for a word", summaryPrompt("All done.", events.ObservationParsed{
			Type: "decision", Title: "We take the second way.", Narrative: "We take the second way. Options:\n1. Round late\n2. Round once",
		}, events.ObservationParsed{
			Type: "decision", Title: "Use UTC everywhere, if you want the totals to match.", Narrative: "Use UTC everywhere, if you want the totals to match.",
		}), observer.Summary{
			Request: "Round the totals of the cart",
			Learned: "We take the second way. Options:\n1. Round late\n2. Round once\n\nUse UTC everywhere, if you want the totals to match.",
		}},
		{"a question is asked whole", asking("The totals are wrong since this morning.\n\nAre they rounded more than once?", summaryPrompt("All done.", found)), observer.Summary{
			Request: "The totals are wrong since this morning.\n\nAre they rounded more than once?",
			Learned: "Totals are rounded in three places.\n\nThe first is the cart.",
		}},
		{"what is not borne out is not repeated", summaryPrompt("All done.", done, claiming(found)), observer.Summary{
			Request: "Round the totals of the cart", NextSteps: "Add a changelog line",
			Completed: "Round totals once — 1 file changed, tests passed: cart.go",
		}},
		{"a title that says nothing, and a lead to a list", summaryPrompt("All done.", empty, leading), observer.Summary{
			Request: "Round the totals of the cart", NextSteps: "Add a changelog line",
			Completed: "- 1 file changed, tests passed: cart.go\n- The totals are rounded once — 1 file changed, tests passed: cart.go",
		}},
		{"a lone command", asking("<command-name>/security-review</command-name>", summaryPrompt("All done.", found)), observer.Summary{
			Request: "/security-review",
			Learned: "Totals are rounded in three places.\n\nThe first is the cart.",
		}},
		{"only words", summaryPrompt("Totals are rounded in three places, the cart, the invoice and the report, each in its own way and time.\n\nShall I change that?"),
			observer.Summary{
				Request:   "Round the totals of the cart",
				Learned:   "Totals are rounded in three places, the cart, the invoice and the report, each in its own way and time.",
				NextSteps: "Asked the person: Shall I change that?",
			}},
		{"a question over two lines", summaryPrompt("Totals are rounded in three places, the cart, the invoice and the report, each in its own way and time.\n\nShall I change that\non the branch?"),
			observer.Summary{
				Request:   "Round the totals of the cart",
				Learned:   "Totals are rounded in three places, the cart, the invoice and the report, each in its own way and time.",
				NextSteps: "Asked the person: Shall I change that on the branch?",
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, tt.prompt)
			if got.Summary == nil {
				t.Fatalf("got %s, want a summary", got.Disposition)
			}
			if diff := cmp.Diff(tt.want, *got.Summary); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummaryOfNothingIsSkipped(t *testing.T) {
	t.Parallel()
	for _, message := range []string{"", "Done.", "OK, I will wait."} {
		if got := ask(t, summaryPrompt(message)); got.Disposition != observer.DispositionSkip {
			t.Errorf("%q: got %s, want a skip", message, got.Disposition)
		}
	}
}

func TestNextStepsAreOnlyWhatIsVisiblyOpen(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, message, want string }{
		{"boxes", "State:\n- [x] Round once\n- [ ] Add a test\n- [ ] Tell the team", "- Add a test\n- Tell the team"},
		{"a closing section", "It works.\n\n## Next steps\n1. Add a test\n2. Tell the team", "- Add a test\n- Tell the team"},
		{"a closing section in German", "Fertig.\n\n**Nächste Schritte:**\n- Einen Test schreiben", "Einen Test schreiben"},
		{"a closing section in Japanese", "完了しました。\n\n### 次のステップ\n- テストを追加する", "テストを追加する"},
		{"a closing list of what was done", "Summary of changes:\n- Rounded once\n- Added a test", ""},
		{"a section that is not the last", "## Next steps\n- Add a test\n\nAll of these are done now.", ""},
		{"prose about next steps", "The next steps are to add a test and to tell the team.", ""},
		{"nothing", "Done.", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, nextSteps(nil, messageBlocks(tt.message))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotesSayWhatStoppedTheWork(t *testing.T) {
	t.Parallel()
	work := events.ObservationParsed{Type: "change", Title: "Round totals once"}
	for cause, want := range map[events.StopCause]string{
		events.StopDone:    "",
		events.StopFailure: "The agent's own model call failed: rate_limit.",
		events.StopCompact: "The agent compacted its context in the middle of the work.",
		events.StopEnd:     "The session ended in the middle of the work.",
		events.StopIdle:    "The agent fell silent in the middle of the work.",
	} {
		p := summaryPrompt("", work)
		p.Inputs = []observer.Input{{Event: events.AgentStopped{Cause: cause, Error: "rate_limit"}}}
		if got := ask(t, p).Summary.Notes; got != want {
			t.Errorf("%s: got %q, want %q", cause, got, want)
		}
	}
}

// TestWhatFailsLastIsNoted: a test or a build that was not seen to go well since, told by the facts of the session.
func TestWhatFailsLastIsNoted(t *testing.T) {
	t.Parallel()
	const (
		build  = "`npm run build` failed (exit 1): generate.js:3: it is not a function"
		tested = "`go test ./...` failed: cart_test.go:7: got 3, want 4"
	)
	tests := []struct {
		name  string
		facts [][]string // of each observation
		apart int
		want  string
	}{
		{"nothing failed", [][]string{{"`go test ./...` passed"}}, 0, ""},
		{"a build at the end", [][]string{{"`npm test` passed"}, {build, "2 files changed"}}, 0, "Failed last: " + build},
		{"a build that passed later in the same work", [][]string{{build + passedAfter}, {tested + passedLater}}, 0, ""},
		{"a build that was run again in the same work", [][]string{{build + ranLater}}, 0, ""},
		{"a build that was run again in later work", [][]string{{build}, {"Ran `npm run build`, and printed: built"}}, 0, ""},
		{"tests that printed the same failure in later work", [][]string{{"`npm test` failed (exit 1): Tests: 3 failed"}, {"Ran `npm test` (its end was not reported), and printed: Tests: 3 failed, 9 passed"}}, 0, "Failed last: `npm test` failed (exit 1): Tests: 3 failed"},
		{"a build that was run before in the same work", [][]string{{"Ran `npm run build`", build}}, 0, "Failed last: " + build},
		{"a build, and another run whose end was not reported", [][]string{{build}, {"Ran `node server.js`, and printed: ok"}}, 0, "Failed last: " + build},
		{"tests that were run again in later work", [][]string{{tested}, {"Ran `go test ./...` (its end was not reported)"}}, 0, ""},
		{"a build that passed in later work", [][]string{{build}, {"`npm run build` succeeded"}}, 0, ""},
		{"a part of the tests that passed later", [][]string{{tested}, {"`go test ./cart` passed"}}, 0, ""},
		{"another part of the tests that passed later", [][]string{{"`go test ./cart` failed: cart_test.go:7: got 3"}, {"`go test ./mail` passed"}}, 0, "Failed last: `go test ./cart` failed: cart_test.go:7: got 3"},
		{"tests that nobody ran again", [][]string{{tested}, {"`npm run build` succeeded"}, {"Searched for: total"}}, 0, "Failed last: " + tested},
		{"something else that nobody ran again", [][]string{{"`node --version` failed"}, {"`npm run build` succeeded"}}, 0, ""},
		{"failed twice", [][]string{{tested}, {"`go test ./...` failed: cart_test.go:9: got 5"}}, 0, "Failed last: `go test ./...` failed: cart_test.go:9: got 5"},
		{"before what was left out", [][]string{{tested}, {"Searched for: total"}}, 1, ""},
		{"what was asked once", [][]string{{"`python3 -c \"import shop; print(shop.total())\"` failed (exit 1): no module", "`node -e 'shop()'` failed"}}, 0, ""},
		{"no command at all", [][]string{{"`` failed", "`x", "`` passed", "`   ` failed"}}, 0, ""},
		{"two of them, and a question", [][]string{{tested, build}}, 0, "- Failed last: " + build + "\n- Failed last: " + tested},
		{"failed twice in the same work, the newest first", [][]string{{"`go test ./...` failed: cart_test.go:9: got 5", tested}}, 0, "Failed last: `go test ./...` failed: cart_test.go:9: got 5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := summaryPrompt("All done.")
			for _, facts := range tt.facts {
				p.Observed = append(p.Observed, events.ObservationParsed{Type: "change", Title: "The totals were changed", Facts: facts})
			}
			p.Apart = tt.apart
			if got := ask(t, p).Summary.Notes; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestALongSessionIsToldByItsLastWork, and by its first request.
func TestALongSessionIsToldByItsLastWork(t *testing.T) {
	t.Parallel()
	p := summaryPrompt("All done.")
	for i := range 30 {
		p.Requests = append(p.Requests, fmt.Sprintf("Request %d is about the totals of the cart", i))
		p.Observed = append(p.Observed,
			events.ObservationParsed{Type: "change", Title: fmt.Sprintf("Change %d was made to the totals of the cart", i)},
			events.ObservationParsed{Type: "discovery", Title: fmt.Sprintf("Finding %d is about the totals of the cart", i)})
	}
	s := ask(t, p).Summary
	for _, tt := range []struct {
		field, begin, end string
		most              int
	}{
		{s.Request, "Request 0 is", " / Round the totals of the cart", maxField},
		{s.Completed, "- Change ", "Change 29 was made to the totals of the cart", maxField},
		{s.Learned, "Finding ", "Finding 29 is about the totals of the cart", maxReasons},
	} {
		if !strings.HasPrefix(tt.field, tt.begin) || !strings.HasSuffix(tt.field, tt.end) || runes(tt.field) > tt.most {
			t.Errorf("%d runes, want at most %d from %q to %q:\n%s", runes(tt.field), tt.most, tt.begin, tt.end, tt.field)
		}
	}
}

// TestLearned: of more than there is room for what weighs most stays, however old, and what the session ended with; and why something was
// done is learned too.
func TestLearned(t *testing.T) {
	t.Parallel()
	p := summaryPrompt("All done.")
	add := func(kind, title, narrative string) {
		p.Observed = append(p.Observed, events.ObservationParsed{Type: kind, Title: title, Narrative: narrative})
	}
	const first = "The crash is caused by total() in cart.go, which reads rates.json twice because open_rates() does not wait."
	add("discovery", "The crash is caused by total()", first)
	for i := range 20 {
		add("discovery", fmt.Sprintf("The file list of step %d is short", i), strings.Repeat(fmt.Sprintf("There is nothing else to see in folder number %d. ", i), 2))
	}
	add("bugfix", "Round totals once", "The totals are rounded once. **Cause:** tax.go rounds in addTax() and so does cart.go. The tests pass.")
	add("change", "Round at the end", "We decided to round in sum() of cart.go because the user approved it as the policy.")
	const end = "The shop is open again, and all of it reads well to those who asked for it this morning, as far as anybody can say so today."
	add("discovery", "The shop is open", end)
	p.Observed[len(p.Observed)-1].Prompt = 2
	got := ask(t, p).Summary.Learned
	if strings.Contains(got, "approved") {
		t.Errorf("what was approved is no reason:\n%s", got)
	}
	for _, want := range []string{first, end, "Cause: tax.go rounds in addTax() and so does cart.go."} {
		if !strings.Contains(strings.ReplaceAll(got, "**", ""), want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if runes(got) > maxReasons {
		t.Errorf("%d runes, want at most %d", runes(got), maxReasons)
	}
}

// TestAsksPerson: what waits for the person's answer at the end of a message.
func TestAsksPerson(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"The cart is right now.":                           "",
		"Is it the sum? No, it is the tax.":                "",
		"The sum is right now. Shall I do the tax too?":    "Shall I do the tax too?",
		"Which of them is it to be? Or both?":              "Which of them is it to be? Or both?",
		"The sum is right. If you want, I can do the tax.": "If you want, I can do the tax.",
		"## Fix 1: Rounding\n\nIt rounds once.\n\n## Fix 2: Tax\n\nIt is asked once.\n\nShall I commit this?":           "Shall I commit this?",
		"It rounds once. Which one do you prefer:\n1. In `cart.go`\n2. Later":                                           "Which one do you prefer: 1. In cart.go 2. Later",
		"There are two options:\n- Round once\n- Never round":                                                           "There are two options: - Round once - Never round",
		"I changed these:\n- Round once\n- Never round":                                                                 "",
		"Two ways:\n\n**Plan A: Early**\n\n```\nx\n```\n\n**Plan B: Late**\n\nThe sum stays.\n\nWhich one is it to be?": "Which one is it to be? - Plan A: Early - Plan B: Late",
		"**Result**\n\nThe sum is right.\n\nWhich one is next?":                                                         "Which one is next?",
		"Soll ich das auch ändern?\n\n```\nx\n```":                                                                      "",
		"要不要一起修改税额？":                                                                                                    "要不要一起修改税额？",
	} {
		if got := asksPerson(messageBlocks(message)); got != want {
			t.Errorf("of %q: %q, want %q", message, got, want)
		}
	}
}

// TestUncut: a title that was cut off goes on to the end of its sentence, and is not found in code.
func TestUncut(t *testing.T) {
	t.Parallel()
	const text = "Slow parts:\n- `Cart.Sum` of the cart in `cart.go`\n\n```\nShow the sum of the tax in the view\n```\n\n" +
		"It is right. The cart shows now:\n```\nSum: 3.\nTax: 1.\n```"
	for title, want := range map[string]string{
		"The cart is slow":                     "The cart is slow",
		"The cart shows now: Sum: 3. T…":       "The cart shows now: Sum: 3. Tax: 1.",
		"Cart.Sum of the…":                     "Cart.Sum of the cart in cart.go",
		"Slow parts: Cart.Sum of the…":         "Slow parts: Cart.Sum of the cart in cart.go",
		"Change cart.go: Cart.Sum of the…":     "Cart.Sum of the cart in cart.go",
		"Which one is it? — Cart.Sum of the…":  "Which one is it? — Cart.Sum of the cart in cart.go",
		"Add a note: Show the sum of the tax…": "Add a note: Show the sum of the tax…",
	} {
		if got := uncut(title, text); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

// TestFromTitle: what an observation says is quoted from the paragraph on whose sentence is its title.
func TestFromTitle(t *testing.T) {
	t.Parallel()
	const drafts, rates = "Carts are read thrice for each order.", "The Cached rates are a day old."
	for title, want := range map[string]string{
		"":                           drafts + "\n\n" + rates,
		"Cache":                      drafts + "\n\n" + rates,
		"The Cached rates are a day": rates,
		"The Cached rates are a d…":  rates,
		"Something else":             drafts + "\n\n" + rates,
	} {
		if got := layOut(fromTitle(events.ObservationParsed{Title: title, Narrative: drafts + "\n\n" + rates})); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

// TestWhatWasDone: a short title of more than one word says what was done, and one word that says little does not. The files that are
// named are not counted too.
func TestWhatWasDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, subtitle, want string }{
		{"Tag v2", "1 file changed, 1 commit", "Tag v2 — 1 file changed, 1 commit: cart.go"},
		{"Done.", "1 file changed, 1 commit", "1 file changed, 1 commit: cart.go"},
		{"Tag v2", "1 file changed", "Tag v2 — cart.go"},
		{"Tag v2", "2 files changed", "Tag v2 — 2 files changed: cart.go"},
		{"Done.", "1 file changed", "1 file changed: cart.go"},
		{"Tag v2", "", "Tag v2: cart.go"},
	} {
		o := events.ObservationParsed{Title: c.title, Subtitle: c.subtitle, FilesModified: []string{"/src/shop/cart.go"}}
		if got := whatWasDone(o, "/src/shop", nil); got != c.want {
			t.Errorf("%q, %q: got %q, want %q", c.title, c.subtitle, got, c.want)
		}
	}
}

// What an earlier answer found of code that a later one goes on with may hold no longer: the later one says what does.
func TestWhatWasFoundBeforeIsNotLearned(t *testing.T) {
	t.Parallel()
	found := events.ObservationParsed{Prompt: 1, Type: "discovery", Title: "Carts are sorted by CreatedAt.", Narrative: "Carts are sorted by `CreatedAt`."}
	apart := events.ObservationParsed{Prompt: 1, Type: "discovery", Title: "The drawer sticks in the rain.", Narrative: "The drawer sticks in the rain."}
	changed := events.ObservationParsed{
		Prompt: 2, Type: "change", Title: "Sort carts by number.", Narrative: "Carts are sorted by number, no longer by `CreatedAt`.", FilesModified: []string{cwd + "/cart.go"},
	}
	same := changed
	same.Prompt = 1
	decided, earlierChange := found, changed
	decided.Type = "decision"
	earlierChange.Prompt, earlierChange.Narrative = 1, "Carts are sorted by `CreatedAt` because its index is there."
	for name, c := range map[string]struct {
		earlier, later events.ObservationParsed
		want           string
	}{
		"a later answer":           {found, changed, apart.Narrative},
		"the same answer":          {found, same, found.Narrative + "\n\n" + apart.Narrative},
		"why an earlier was done":  {earlierChange, changed, apart.Narrative},
		"a decision stays decided": {decided, changed, found.Narrative + "\n\n" + apart.Narrative},
	} {
		s, _ := new(Provider).summarize(summaryPrompt("Done.", c.earlier, apart, c.later))
		if want := c.want + "\n\n" + changed.Narrative; s.Learned != want {
			t.Errorf("%s: learned %q, want %q", name, s.Learned, want)
		}
	}
}
