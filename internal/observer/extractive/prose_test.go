package extractive

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestTitleOfRequest(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 40)
	tests := []struct{ name, request, want string }{
		{"a sentence", "Fix the login redirect for expired sessions.", "Fix the login redirect for expired sessions."},
		{"the first of several", "Fix the login redirect for sessions that expired on the server, in all three shops. Then add tests for it. And deploy it to staging.",
			"Fix the login redirect for sessions that expired on the server, in all three shops."},
		{"consent says nothing", "yes", ""},
		{"consent before a sentence", "ok, thanks! Now rename the package to basket.", "Now rename the package to basket."},
		{"a path alone", "/home/dev/project/main.go", ""},
		{"a path in a sentence", "Look at /home/dev/project/internal/cart.go, it is wrong", "Look at cart.go, it is wrong"},
		{"an address", "See https://example.org/a/b?c=d and do the same for carts", "See https://example.org/a/b?c=d and do the same for carts"},
		{"announced", "I got this feedback on the branch:\n\nThe parser must refuse an empty name.", "The parser must refuse an empty name."},
		{"announced code", "This is what I see when I start it:\n```\npanic: boom\n```", "This is what I see when I start it"},
		{"code before words", "```go\nfunc main() {}\n```\nWhy does this not compile?", "Why does this not compile?"},
		{"an open fence", "Explain the error below please\n```\nline\nline", "Explain the error below please"},
		{"a log", "2026-03-01T09:00:00Z ERROR [http] 500 /api 12ms\nThe server fails on every request", "The server fails on every request"},
		{"indented code after words", "Make this a constant:\n    x := 42 * y\n", "Make this a constant"},
		{"a heading", "# Plan: move the cart to its own package\n\n1. Create it", "Plan: move the cart to its own package"},
		{"an IDE tag", "<ide_opened_file>The user opened /a/b.go</ide_opened_file>Rename the function total to sum", "Rename the function total to sum"},
		{"a reminder", "<system-reminder>\nDo not mention this.\n</system-reminder>\nAdd a test for totals", "Add a test for totals"},
		{"an unknown wrapper", "<log_excerpt>noise of a log with words</log_excerpt>Why is it slow to start?", "Why is it slow to start?"},
		{"HTML stays", "Why is <b>this</b> not bold in the header?", "Why is <b>this</b> not bold in the header?"},
		{"a slash command", "<command-message>init is running…</command-message>\n<command-name>/init</command-name>", ""},
		{"a slash command with words", "<command-name>/fix</command-name>\n<command-args>the failing cart tests</command-args>", "/fix the failing cart tests"},
		{"a user query", "<user_query>\nWrite a parser for dates\n</user_query>", "Write a parser for dates"},
		{"attachments", "[Image #1] Make the button look like this [Pasted text #2 +30 lines]", "Make the button look like this"},
		{"emphasis and links", "**Please** read [the guide](https://example.org) and apply `gofmt`", "Please read the guide and apply gofmt"},
		{"cut at a word", long, strings.TrimSpace(strings.Repeat("word ", 28)) + "…"},
		{"Japanese", "最新の状態にアップデートしてください。その後テストを実行。", "最新の状態にアップデートしてください。 その後テストを実行。"},
		{"two short ones", "The header is broken. Please fix it in all pages.", "The header is broken. Please fix it in all pages."},
		{"Japanese, long", strings.Repeat("更新", 80), strings.Repeat("更新", 69) + "更…"},
		{"a lone tag", "<system-reminder> never closed, fix the parser", "never closed, fix the parser"},
		{"escapes", "\x1b[31mFix\x1b[0m the \u202ered\u202c colour of errors", "Fix the red colour of errors"},
		{"a label", "Title: Move the cart to its own package\n\n- Create it", "Move the cart to its own package"},
		{"a label in bold", "**Goal:** Move the cart to its own package", "Move the cart to its own package"},
		{"a label before a phrase", "Error: cannot find the cart package", "Error: cannot find the cart package"},
		{"a label of two words", "Next task: Move the cart to its package", "Next task: Move the cart to its package"},
		{"a type before a message", "TypeError: Cannot read the total of null", "TypeError: Cannot read the total of null"},
		{"blank", " \n\t\ufeff", ""},
		{"a table", "| a | b |\n|---|---|\n| one thing | other thing |", ""},
		{"numbers", "12345 67890 12345", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, titleOf(requestBlocks(tt.request))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNarrative(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, message string
		n             int
		want          string
	}{
		{"as it is", "It has two.\n\n- one\n- two", 100, "It has two.\n\n- one\n- two"},
		{"an interjection before it goes", "Done! Let me sum it up. It has two.\n\n- one", 100, "It has two.\n\n- one"},
		{"an announcement before a list goes", "Perfect!\n\nHere's what I changed:\n\n- one thing\n- two things", 100, "- one thing\n- two things"},
		{"an announcement that says something behind it stays", "Looking at the cart, its totals are rounded twice.\n\nShall I change it?", 100,
			"Looking at the cart, its totals are rounded twice."},
		{"nothing but interjections stays", "Done! Perfect.", 100, "Done! Perfect."},
		{"cut at a sentence", "The first sentence is here. The second one is here. The third one does not fit.", 60,
			"The first sentence is here. The second one is here."},
		{"cut at a paragraph", "The first paragraph.\n\nThe second paragraph is longer than what is left.", 24, "The first paragraph."},
		{"long code goes, and what announces it", "It works now.\n\nThis is the code:\n\n```go\n" + strings.Repeat("x\n", 20) + "```\n\nTests pass.", 300,
			"It works now.\n\nTests pass."},
		{"short code stays", "Run this:\n\n```sh\nmake test\n```", 100, "Run this:\n\n```\nmake test\n```"},
		{"code in a list", "- One:\n- ```go\n  x\n  ```\n- Two", 100, "- One:\n\n```\n  x\n```\n- Two"},
		{"no heading at the end", "All good.\n\n## Details", 100, "All good."},
		{"a question at the end goes", "The file is gone.\n\nShall I commit it?", 100, "The file is gone."},
		{"a question in the last paragraph goes", "The file is gone. I kept a copy. Shall I commit it? Or do you want to?", 100, "The file is gone. I kept a copy."},
		{"a question over two lines goes", "The file is gone.\n\nShall I commit the change\nto the branch now?", 100, "The file is gone."},
		{"what waits for a word, but says something, stays", "It listens on 8080.\n\nRun `make dev` if you want live reload.", 100, "It listens on 8080.\n\nRun `make dev` if you want live reload."},
		{"a question before the end stays", "Why is it gone? It was never there.\n\nIt is made at the start.", 100, "Why is it gone? It was never there.\n\nIt is made at the start."},
		{"what there is to choose from stays", "The file is gone.\n\nWhat shall I do?\nOptions:\n- Commit it\n- Restore it", 100,
			"The file is gone.\n\nWhat shall I do?\nOptions:\n- Commit it\n- Restore it"},
		{"a question alone stays", "Shall I commit it?", 100, "Shall I commit it?"},
		{"a reminder goes", "Done.<system-reminder>secret</system-reminder>", 100, "Done."},
		{"a listing alone is text", "```\nTitle: Move it\n\n- Move `a` to `b`\n```", 100, "Title: Move it\n\n- Move `a` to `b`"},
		{"a label goes", "```\nTitle: Move the cart to its package\n\n- Move `a` to `b`\n```", 100, "Move the cart to its package\n\n- Move `a` to `b`"},
		{"a bold label goes", "**Plan:** Move the cart to its package", 100, "Move the cart to its package"},
		{"one long word", strings.Repeat("x", 50), 10, strings.Repeat("x", 9) + "…"},
		{"nothing", "\n \n", 10, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, answerText(messageBlocks(tt.message), tt.n)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCutAndLeadStayInBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, n := clean(rapid.String().Draw(t, "s")), rapid.IntRange(2, 60).Draw(t, "n")
		if got := cut(s, n); uniseg.GraphemeClusterCount(got) > n && len(got) > n || !utf8.ValidString(got) {
			t.Fatalf("cut(%q, %d) = %q", s, n, got)
		}
		got := lead(s, n)
		if runes(got) > maxGraphemeBytes*n+1 || !utf8.ValidString(got) {
			t.Fatalf("lead(%q, %d) = %q", s, n, got)
		}
		if runes(strings.TrimSpace(s)) <= n && got != strings.TrimSpace(s) {
			t.Fatalf("lead(%q, %d) = %q, want it whole", s, n, got)
		}
	})
}

// TestCut: a text ends at a word, before what joins it to the next; one long word is cut.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"one two three", 13, "one two three"}, {"one two three", 12, "one two…"}, {"one two — three four five", 15, "one two…"}, {"one, two three", 6, "one…"},
		{"a wheelbarrow", 12, "a wheelbarr…"}, {"\u0600 aa", 2, "\u0600 …"},
	} {
		if got := cut(c.s, c.n); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

// TestCutEndsAtAGrapheme: where two plain characters stand side by side nothing is looked up, and nothing changes by that.
func TestCutEndsAtAGrapheme(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "b", " ", "\n", "\r\n", "e\u0301", "\u0301", "👩\u200d👩", "\u200d", "🇫🇷", "한", "ก็", "\u0600", "क्ष"})
	rapid.Check(t, func(t *rapid.T) {
		s, n := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), ""), rapid.IntRange(2, 20).Draw(t, "n")
		got, short := strings.CutSuffix(cut(s, n), "…")
		if !short {
			return
		}
		ends := map[int]bool{0: true}
		for g, at := uniseg.NewGraphemes(s), 0; g.Next(); {
			at += len(g.Str())
			ends[at] = true
		}
		if !ends[len(got)] || uniseg.GraphemeClusterCount(got) >= n {
			t.Fatalf("cut(%q, %d) ends at %d", s, n, len(got))
		}
	})
}

func TestCleanLeavesNothingHarmful(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"\x1b[1;31m", "\x1b]0;x\x07", "\r\n", "\u202e", "\x00", "\xff", "<system-reminder>", "</system-reminder>", "<private a='b'>",
		}))).Draw(t, "parts")
		s := clean(strings.Join(parts, ""))
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\x1b\r\u202e") {
			t.Fatalf("got %q", s)
		}
		if clean(s) != s {
			t.Fatalf("cleaning twice changes %q", s)
		}
		if u := unwrap(s, true); strings.Contains(u, "<system-reminder>") || strings.Contains(u, "</system-reminder>") {
			t.Fatalf("a tag is left in %q", u)
		}
	})
}

// TestAchieved: which sentence of a message says what came of it.
func TestAchieved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message string
		changed bool
		want    string
	}{
		"the first that stands alone":            {"The cart shows the right sum in cents now. It was wrong because `roundSum` was called twice in `cart.go`.", true, "The cart shows the right sum in cents now. It was wrong because roundSum was called twice in cart.go."},
		"not one that praises":                   {"All of it reads well.\n\n- `Cart.Sum` rounds once in `cart.go`", true, "Cart.Sum rounds once in cart.go"},
		"not one that leads to a list alone":     {"Here is what the shop shows with this:\n\n- `Cart.Sum` rounds once in `cart.go`\n- All is well", true, "Here is what the shop shows with this: Cart.Sum rounds once in cart.go"},
		"an item that says what was done":        {"The two of them agree.\n\nIn `shop`:\n- `Cart.Total` and `Cart.Sum` of `cart.go`\n- Renamed `Sum` to `Total`", true, "Renamed Sum to Total"},
		"an item with what announces it":         {"You asked twice.\n\n**Likely to be slow:**\n1. `Cart.Total()` in `cart.go`", true, "Likely to be slow: Cart.Total() in cart.go"},
		"one that says what was done":            {"With the tax: ~12 ms (3 ms of it is the view alone).\n\nFixed `Cart.Sum` of `cart.go`: down from 90 ms to 12 ms.", true, "Fixed Cart.Sum of cart.go: down from 90 ms to 12 ms."},
		"with the short code that it leads to":   {"You can see the sum now with:\n```\nshop sum --all\n```\nIt takes 3 ms in `cart.go`.", true, "You can see the sum now with: shop sum --all"},
		"the first of a list":                    {"Sums agree.\n\n- Created `sum.go` for the cart, moved from `shop`\n- Updated `cart.go` so that it calls `Sum()` of `sum.go`", true, "Created sum.go for the cart, moved from shop"},
		"a short line with its list":             {"Let me see how it looks.\n\nNow the steps are:\n- `tiny`: 4 px\n- `small`: 8 px (was 6)", true, "Now the steps are: tiny: 4 px; small: 8 px (was 6)"},
		"no bare announcement":                   {"Now:\n\n1. `Cart.Load` gives an error where the file is bad\n2. The view shows it", true, "Now: Cart.Load gives an error where the file is bad; The view shows it"},
		"a long line with what fits of its list": {"Rewrote the rules of the shop's whole import so that prices are checked:\n\n- `Price.Check` in `price.go`\n- `Price.Max`, which was in `price.go`, is not there any more", true, "Rewrote the rules of the shop's whole import so that prices are checked: Price.Check in price.go"},
		"a long line of whose list nothing fits": {"Rewrote the rules of the shop's whole import so that prices are checked:\n\n- `Price.Max`, which was in `price.go`, is not there any more, and all that is left there comes from the shop's own list", true, "Rewrote the rules of the shop's whole import so that prices are checked"},
		"nothing that is to be run":              {"Changed `Cart.Sum` so that it rounds once.\n\nNow run it again in both of the shops and look at what it says of `Cart.Total` and of `Cart.Max`.", true, "Changed Cart.Sum so that it rounds once."},
		"no item of what cannot be named":        {"Only:\n- `Cart.Total` of `cart.go`, as `Cart.Sum`\n\nThe sums of `cart.go` agree everywhere.", false, "The sums of cart.go agree everywhere."},
		"not what waits for an answer":           {"The sums of `cart.go` agree everywhere.\n\nTell me which of `Cart.Sum` and `Cart.Total` in `cart.go` is to go.", false, "The sums of cart.go agree everywhere."},
		"with the address that it names":         {"The cart now asks https://shop.example instead of `http://localhost:80` for all it shows.", true, "The cart now asks https://shop.example instead of http://localhost:80 for all it shows."},
		"with a line of a file":                  {"Fixed /home/u/shop/cart.go:12:3 and /home/u/shop/tax.go:7-9 of the shop.", true, "Fixed cart.go:12:3 and tax.go:7-9 of the shop."},
		"with a route of a name":                 {"`GET /shops/all/:id` of the shop takes all states that a cart can have.", false, "GET /shops/all/:id of the shop takes all states that a cart can have."},
		"with a route":                           {"`DELETE /carts/{id}` of the shop takes all states that a cart can have.", false, "DELETE /carts/{id} of the shop takes all states that a cart can have."},
		"not what is only planned":               {"The shop has no client for `cart.go` yet, so I'll write one.", false, "The shop has no client for cart.go yet."},
		"no guess":                               {"I suspect that `Cart.Sum` and `Cart.Total` were one and the same in `cart.go` before.\n\n- Changed `Sum` to `Total` in `cart.go`", true, "Changed Sum to Total in cart.go"},
		"of an answer why it is so":              {"Currently the cart shows:\n\n- The sum of all\n\nThe `Cart.Total` isn't shown since the view never asks for it.", false, "The Cart.Total isn't shown since the view never asks for it."},
	} {
		if got, alone := achieved(messageBlocks(c.message), c.changed); got != c.want || !alone {
			t.Errorf("%s: %q, alone %v; want %q", name, got, alone, c.want)
		}
	}
}

// TestTrimTitle: the marks of lists, headings and ends are taken off, and none that a name begins with.
func TestTrimTitle(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"- The cart rounds once:":         "The cart rounds once",
		"## The cart — ":                  "The cart",
		".env and .gitignore are ignored": ".env and .gitignore are ignored",
		"* .env is ignored":               ".env is ignored",
		"--force is needed":               "--force is needed",
		"#12 reads the cart twice,":       "#12 reads the cart twice",
		"— **The cart":                    "The cart",
		"*.go files are read":             "*.go files are read",
		">= 3 carts are read":             ">= 3 carts are read",
		", and so on":                     "and so on",
		"...":                             "",
		"- - -":                           "",
		"":                                "",
	} {
		if got := trimTitle(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
