package sentence

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// TestWeigh: what a sentence is for, and whether it is worth keeping.
func TestWeigh(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct {
		purpose Purpose
		tells   bool
	}{
		"Let me check the lexer.":                         {Announce, false},
		"Let’s look at cart.go.":                          {Announce, false},
		"Shall I also change cart.go?":                    {Announce, false},
		"Here it is:":                                     {Announce, false},
		"Ich schaue mir cart.go an.":                      {Announce, false},
		"让我看看 cart.go。":                                   {Announce, false},
		"Done.":                                           {Plainly, false},
		"As there is no lexer, I'll read cart.go myself.": {Announce, false},
		"I found the problem!":                            {Announce, false},
		"Rather than guess again, let me run it here.":    {Announce, false},
		"Rather than a cache of rates.go, I'll keep the table because it is small.": {Cause, true},
		"Pushing the cart to the shop now.":                                         {Announce, false},
		"Now let me push `cart.go`, because it is done.":                            {Announce, false},
		"Pushing to `main` is refused because the branch is protected.":             {Cause, true},
		"I chose bbolt rather than SQLite, so let me begin with its buckets.":       {Decision, true},
		"The queue is empty because close() failed, so I'll drain cart.go first.":   {Cause, true},
		"All is well with this.":                                                    {Plainly, false},
		"The queue is drained twice because closeAll() is called twice.":            {Cause, true},
		"Die Liste ist leer, weil der Pfad nicht aufgelöst wird.":                   {Cause, true},
		"因为缓存没有失效,所以 cart.go 返回旧数据。":                                                {Cause, true},
		"La liste est vide parce que le chemin n'est pas résolu.":                   {Cause, true},
		"Note that the lexer must run first.":                                       {Gotcha, true},
		"We keep bbolt rather than SQLite.":                                         {Decision, true},
		"A run of cart_test.go takes 35 ms, not 900 ms.":                            {Plainly, true},
		"The cases in lexer.go and cart.go share tokenOf().":                        {Plainly, true},
		"I sincerely hope that this reads well to you.":                             {Plainly, false},
	} {
		worth, p := Weigh(s, 0)
		if tells := worth >= 3; p != want.purpose || tells != want.tells {
			t.Errorf("%q: purpose %d, worth %d; want purpose %d, worth keeping %v", s, p, worth, want.purpose, want.tells)
		}
	}
	if worth, _ := Weigh("The lexer reads `items` twice.", 0); worth != 1 {
		t.Errorf("a word that is marked as code: %d, want 1", worth)
	}
	if worth, _ := Weigh("The lexer reads it twice.", 2); worth != 2 {
		t.Errorf("borne out twice: %d, want 2", worth)
	}
	if before, _ := Weigh("The lexer reads it twice.", 0); before != 0 {
		t.Errorf("worth %d, want nothing", before)
	}
}

// TestUnplanned: what stands before what the agent is about to do, as it is written.
func TestUnplanned(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"The server isn't installed, so I'll ask the API.":   "The server isn't installed.",
		"The server isn’t installed, so I’ll ask the API.":   "The server isn’t installed.",
		"The cart is empty – let me fill it.":                "The cart is empty.",
		"The cart holds 40 lines at most and I'll say that.": "The cart holds 40 lines at most.",
		"I'll ask the API.":     "I'll ask the API.",
		"So I'll ask.":          "So I'll ask.",
		"The cart isn’t empty.": "The cart isn’t empty.",
		"Der Wagen ist leer, also schaue ich in der Liste nach": "Der Wagen ist leer, also schaue ich in der Liste nach",
		"": "",
		"The parser doesn't handle that — let me fix it.":               "The parser doesn't handle that.",
		"No test of the cart covers it, let me add one.":                "No test of the cart covers it.",
		"The cart of the shop is empty (I'll fill it).":                 "The cart of the shop is empty.",
		"The client prints \"let me in\" when the door is shut.":        "The client prints \"let me in\" when the door is shut.",
		"The button says ‘I’ll pay later’ and does nothing.":            "The button says ‘I’ll pay later’ and does nothing.",
		"The shop calls `let me` in cart.go.":                           "The shop calls `let me` in cart.go.",
		"I read what it does and it is not what I should have written.": "I read what it does and it is not what I should have written.",
		"Rather than a cache, I'll keep the table because it is small.": "Rather than a cache, I'll keep the table because it is small.",
		"La boutique est vide et je vais la remplir.":                   "La boutique est vide.",
	} {
		if got := Unplanned(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// TestUnguessed: what stands before a dash behind which it is guessed.
func TestUnguessed(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"The pool holds 4 connections - that may be why.":            "The pool holds 4 connections",
		"Perhaps the pool holds 4 connections - that is likely why.": "Perhaps the pool holds 4 connections - that is likely why.",
		"The pool holds 4 connections - I bet that is why.":          "The pool holds 4 connections",
		"The pool holds 9 connections - that should work.":           "The pool holds 9 connections",
		"Der Pool hält 9 Verbindungen - das sollte funktionieren.":   "Der Pool hält 9 Verbindungen",
		"The pool holds 4 connections - one for each worker.":        "The pool holds 4 connections - one for each worker.",
		"Hm - the pool may be too small.":                            "Hm - the pool may be too small.",
		"The pool may be too small - it holds 4 connections now.":    "The pool may be too small - it holds 4 connections now.",
	} {
		if got := Unguessed(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// TestUnannounced: what stands behind an announcement, a word of consent or where the agent looked.
func TestUnannounced(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"The lexer is slow - it reads twice.":                        "The lexer is slow - it reads twice.",
		"Let me see why - the lexer reads the file twice.":           "the lexer reads the file twice.",
		"Let me see why, and fix it.":                                "Let me see why, and fix it.",
		"Looking at the lexer, the file is read twice.":              "the file is read twice.",
		"Looking at the lexer.":                                      "Looking at the lexer.",
		"Good point – reading once is what the lexer should do.":     "reading once is what the lexer should do.",
		"Good point - ok.":                                           "Good point - ok.",
		"That makes sense - the lexer reads the file once.":          "the lexer reads the file once.",
		"Good catch: the lexer reads the file once only.":            "the lexer reads the file once only.",
		"You’re right — the lexer has to read all of the file once.": "the lexer has to read all of the file once.",
	} {
		if got := Unannounced(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if !Consents("You’re right, of course.") || Consents("The user is right, of course.") || PurposeOf("Good point.") != Announce || PurposeOf("Looking at it.") != Announce {
		t.Error("consent is not told from other sentences")
	}
}

// TestReportsFailure: whether a person says that something does not work.
func TestReportsFailure(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"The cart crashes on an empty list": true, "Please fix the sum": true, "Es funktioniert nicht": true, "这里报错了": true,
		"It isn’t shown in red": false, "It doesn’t work": true, "Show errors in red": false, "Debug the prefix": false, "": false,
	} {
		if got := ReportsFailure(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// TestCues: each line of the data is a purpose, a tab and a phrase in lower case, once for that purpose.
func TestCues(t *testing.T) {
	t.Parallel()
	files, err := cueFiles.ReadDir("cues")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		data, err := cueFiles.ReadFile("cues/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for l := range strings.Lines(string(data)) {
			l = strings.TrimSuffix(l, "\n")
			if strings.HasPrefix(l, "#") {
				continue
			}
			name, phrase, ok := strings.Cut(l, "\t")
			if !ok || phrase == "" || phrase != strings.ToLower(phrase) || names()[name] == Plainly || seen[l] {
				t.Errorf("%s: line %q", f.Name(), l)
			}
			seen[l] = true
		}
	}
	var n [purposes]int
	for _, same := range cues() {
		for _, c := range same {
			n[c.purpose]++
		}
	}
	for p := Announce; p < purposes; p++ {
		if n[p] < 5 {
			t.Errorf("purpose %d has %d phrases", p, n[p])
		}
	}
	if n[Plainly] != 0 {
		t.Errorf("%d lines without a purpose", n[Plainly])
	}
}

// TestPhrasesAreWords: a phrase counts as a whole word where its script has blanks between words.
func TestPhrasesAreWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s       string
		purpose Purpose
		want    bool
	}{
		{"the muster", Gotcha, false}, {"a_must", Gotcha, false}, {"must", Gotcha, true}, {"(must)", Gotcha, true},
		{"must, muster", Gotcha, true}, {"muster must", Gotcha, true}, {"这里的问题是缓存", Cause, true}, {"", Gotcha, false},
	} {
		if got := Holds(c.s, c.purpose); got != c.want {
			t.Errorf("%q for %d: %v", c.s, c.purpose, got)
		}
	}
}

// TestFindIsLookingForEach: all cues are found at once as each is alone.
func TestFindIsLookingForEach(t *testing.T) {
	t.Parallel()
	var all []cue
	pieces := []string{" ", "", ",", "x", "_", "é", "缓存", "\xff", "\xe4\xbd", "."}
	for _, same := range cues() {
		all = append(all, same...)
		for _, c := range same {
			pieces = append(pieces, c.phrase, c.phrase[:len(c.phrase)/2])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		want := found{plan: len(s)}
		for _, c := range all {
			at := placeOf(s, c.phrase)
			if at >= 0 {
				want.anywhere |= 1 << c.purpose
			}
			if at == 0 {
				want.first |= 1 << c.purpose
			}
			if at >= 0 && c.purpose == Plan {
				want.plan = min(want.plan, at)
			}
		}
		got := find(s)
		if !got.holds(Plan) {
			got.plan = len(s)
		}
		if got != want {
			t.Fatalf("%q: %+v, want %+v", s, got, want)
		}
	})
}

// placeOf is where a phrase stands in s as whole words, -1: nowhere.
func placeOf(s, phrase string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], phrase)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if !joins(before) && endsWord(s, i+len(phrase)) {
			return i
		}
		from = i + len(phrase)
	}
}

func FuzzFirst(f *testing.F) {
	for _, s := range []string{"", "One. Two!", "a.b c. D", "它坏了。因为。", "\xff.", strings.Repeat("x", 5<<10), "e\u0301. A"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		first, rest := First(s)
		if s != "" && len(rest) >= len(s) || !strings.HasSuffix(s, rest) || !strings.Contains(s, first) {
			t.Fatalf("%q and %q of %q", first, rest, s)
		}
		if whole, _, _ := uniseg.FirstSentenceInString(s, -1); len(s) <= maxLength && !strings.ContainsAny(s, "`\"”’»)") && (first != strings.TrimSpace(whole) || rest != s[len(whole):]) {
			t.Fatalf("%q of %q, want %q", first, s, whole)
		}
		Weigh(first, 1)
	})
}

// TestFirstPassesOver what cannot end a sentence, and ends one where the library does.
func TestFirstPassesOver(t *testing.T) {
	t.Parallel()
	signs := rapid.SampledFrom([]string{"a", "B", "7", ".", "!", "?", " ", "\n", "\r", "\t", ",", "e.g.", "é", "。", "\u00ad", "\u0301", "word ", "Word "})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(signs, 0, 30).Draw(t, "signs"), "")
		whole, want, _ := uniseg.FirstSentenceInString(s, -1)
		if first, rest := First(s); first != strings.TrimSpace(whole) || rest != want {
			t.Fatalf("%q: got %q and %q, want %q and %q", s, first, rest, whole, want)
		}
	})
}

// TestASentenceGoesOn behind a mark within code, and behind what it quotes.
func TestASentenceGoesOn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Use `open(path, ...)` → `x := read(y)` there. Then go.": "Use `open(path, ...)` → `x := read(y)` there.",
		"It says \"Hello!\" two times. Then it ends.":            "It says \"Hello!\" two times.",
		"It says \"Hello!\" Then it ends.":                       "It says \"Hello!\"",
		"is it slow? can you look":                               "is it slow?",
		"A mark ` that stands alone! Then more.":                 "A mark ` that stands alone!",
		"Open `it! Now\nand `close`. Then":                       "Open `it!",
		"Open https://a.example/find?q=1#!top first. Then more.": "Open https://a.example/find?q=1#!top first.",
		"Is it at https://a.example/find? Yes.":                  "Is it at https://a.example/find?",
		"见https://a.example/find。然后 more.":                       "见https://a.example/find。",
		"say \"a!\"\nand so on":                                  "say \"a!\"",
	} {
		if got, _ := First(text); got != want {
			t.Errorf("of %q: got %q, want %q", text, got, want)
		}
	}
}
