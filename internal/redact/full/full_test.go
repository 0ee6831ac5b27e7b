package full

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/testkit/growth"
	"github.com/cmemd/cmemd/testkit/secrets"
)

func loaded(tb testing.TB) (*Redactor, *ruleSet) {
	tb.Helper()
	r := New()
	if err := r.Load(); err != nil {
		tb.Fatal(err)
	}
	set, err := r.set()
	if err != nil {
		tb.Fatal(err)
	}
	return r, set
}

// TestEveryRuleIsTried makes up what each rule of the set is to find, and looks for it in a text.
func TestEveryRuleIsTried(t *testing.T) {
	t.Parallel()
	r, set := loaded(t)
	if len(set.rules) < 220 {
		t.Fatalf("there are %d rules", len(set.rules))
	}
	m := sampler{Rand: rand.New(rand.NewPCG(7, 7))}
	for _, rule := range set.rules {
		c, _ := rule.compiled()
		tried := 0
		for range 200 {
			text := "service " + keywordOf(rule.name) + ":\n" + m.sample(t, c.expr.String()) + "\nthe end"
			spans := c.find(text, 0, len(text), nil)
			if len(spans) == 0 {
				continue // it is too even, or an exception
			}
			tried++
			out, found, err := r.Text(text)
			if err != nil {
				t.Fatal(err)
			}
			if secret := text[spans[0].Start:spans[0].End]; strings.Contains(out, secret) && !strings.Contains(redact.Mark(rule.name), secret) || found == nil {
				t.Fatalf("%s: %q became %q, found %v", rule.name, text, out, found)
			}
			if tried == 5 {
				break
			}
		}
		if tried == 0 {
			t.Errorf("%s: nothing that was made up is a secret", rule.name)
		}
	}
}

func keywordOf(name string) (word string) {
	for _, e := range entries() {
		if e.ID == name && len(e.Keywords) > 0 {
			word = e.Keywords[0]
		}
	}
	return word
}

var entries = sync.OnceValue(readEntries)

// TestKeywordsStandInTheMatch: of the rules that are tried around their keywords only, each match holds one.
func TestKeywordsStandInTheMatch(t *testing.T) {
	t.Parallel()
	m := sampler{Rand: rand.New(rand.NewPCG(8, 8))}
	wideRules := map[string]bool{}
	for _, e := range entries() {
		if e.Regex == "" {
			continue
		}
		reach, outside, expr := reachOf(e), false, regexp.MustCompile(e.Regex)
		for range 30 {
			s := m.sample(t, e.Regex)
			at := expr.FindStringIndex(s)
			if at == nil {
				continue
			}
			outside = outside || !holdsKeyword(e, s[at[0]:at[1]])
		}
		if outside && reach != 0 {
			t.Errorf("%s: a match without a keyword", e.ID)
		}
		wideRules[e.ID] = outside
	}
	for _, name := range wide() {
		if !wideRules[name] {
			t.Errorf("%s need not be tried on the whole text", name)
		}
	}
}

func holdsKeyword(e entry, s string) (found bool) {
	for _, w := range e.Keywords {
		found = found || strings.Contains(strings.ToLower(s), strings.ToLower(w))
	}
	return found
}

// TestWindowsFindWhatTheTextHolds: what a rule finds in the whole text is found around its keywords.
func TestWindowsFindWhatTheTextHolds(t *testing.T) {
	t.Parallel()
	_, set := loaded(t)
	m := sampler{Rand: rand.New(rand.NewPCG(9, 9))}
	for i, rule := range set.rules {
		c, _ := rule.compiled()
		for range 2 {
			var text strings.Builder
			text.WriteString(keywordOf(rule.name) + "\n")
			for range 1 + m.IntN(3) {
				fmt.Fprintf(&text, "%s %s\n", strings.Repeat("key of a token ", m.IntN(100)), m.sample(t, c.expr.String()))
			}
			s := text.String()
			want := c.find(s, 0, len(s), nil)
			got, err := set.only(i).spans(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				if !covered(w, got) {
					t.Errorf("%s: %q is not found in %d bytes: %v, want %v", rule.name, s[w.Start:w.End], len(s), got, want)
				}
			}
		}
	}
}

// only is the set with one of its rules.
func (set *ruleSet) only(i int) *ruleSet {
	one := *set
	one.of = make([][]int, len(set.of))
	for w, rules := range set.of {
		for _, r := range rules {
			if r == i {
				one.of[w] = []int{i}
			}
		}
	}
	return &one
}

func covered(want redact.Span, got []redact.Span) bool {
	for _, g := range got {
		if g.Start <= want.Start && g.End >= want.End {
			return true
		}
	}
	return false
}

// TestNothingBesideASecretAcquitsIt: whoever wrote the text may have written that too.
func TestNothingBesideASecretAcquitsIt(t *testing.T) {
	t.Parallel()
	r := New()
	for _, s := range secrets.Make(31) {
		for _, text := range []string{
			s.Text + " # gitleaks:allow", "// gitleaks:allow " + s.Text, "RUN --mount=type=secret, " + s.Text,
			"vendor/modules.txt: " + s.Text, "import { a } from 'b'; " + s.Text, "go.sum example test " + s.Text,
		} {
			out, _, err := r.Text(text)
			if err != nil || strings.Contains(out, s.Find) {
				t.Errorf("%s: %q became %q (%v)", s.Rule, text, out, err)
			}
		}
	}
	m := sampler{Rand: rand.New(rand.NewPCG(3, 3))}
	for range 50 { // and one that these rules alone know
		secret := m.sample(t, "[a-f0-9]{32}")
		text := "cobalt_adobe_client: '" + secret + "' // gitleaks:allow\nadobe = \"" + secret + "\" # gitleaks:allow\n"
		if out, _, _ := r.Text(text); strings.Contains(out, secret) {
			t.Errorf("%q became %q", text, out)
		}
	}
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		list          allowed
		secret, match string
		want          bool
	}{
		{"of the secret", allowed{Regexes: []string{"^a+$"}}, "aaa", "key=aaa", true},
		{"not of the match", allowed{Regexes: []string{"key"}}, "aaa", "key=aaa", false},
		{"of the match", allowed{Regexes: []string{"key"}, Target: "match"}, "aaa", "key=aaa", true},
		{"of the line", allowed{Regexes: []string{"a"}, Target: "line"}, "aaa", "key=aaa", false},
		{"a stop word, in any case", allowed{StopWords: []string{"TeSt"}}, "xtesTx", "", true},
		{"no stop word", allowed{StopWords: []string{"test"}}, "tes", "test", false},
		{"either: the word", allowed{Regexes: []string{"^b$"}, StopWords: []string{"a"}}, "aaa", "", true},
		{"either: the expression", allowed{Regexes: []string{"b"}, StopWords: []string{"x"}}, "b", "", true},
		{"both: the word only", allowed{Condition: "AND", Regexes: []string{"b"}, StopWords: []string{"a"}}, "aaa", "", false},
		{"both: the expression only", allowed{Condition: "AND", Regexes: []string{"b"}, StopWords: []string{"a"}}, "b", "", false},
		{"both", allowed{Condition: "AND", Regexes: []string{"b"}, StopWords: []string{"a"}}, "ab", "", true},
		{"files", allowed{Paths: []string{"."}}, "a", "a", false},
		{"files or", allowed{Paths: []string{"."}, Regexes: []string{"a"}}, "a", "a", true},
		{"files and", allowed{Condition: "AND", Paths: []string{"."}, Regexes: []string{"a"}}, "a", "a", false},
		{"files and a word", allowed{Condition: "AND", Paths: []string{"."}, StopWords: []string{"a"}}, "a", "a", false},
	} {
		x, ok, err := newException(c.list)
		if err != nil {
			t.Fatal(err)
		}
		if got := ok && x.holds(c.secret, c.match); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// TestAllKindsOfTheFastRulesAreFound: they are part of these.
func TestAllKindsOfTheFastRulesAreFound(t *testing.T) {
	t.Parallel()
	r := New()
	for _, s := range secrets.Make(17) {
		out, found, err := r.Text("look\n" + s.Text + "\n")
		if diff := cmp.Diff(map[string]int{s.Rule: 1}, found); err != nil || diff != "" || strings.Contains(out, s.Find) {
			t.Errorf("%s: %q, %v (-want +got):\n%s", s.Rule, out, err, diff)
		}
	}
}

func TestTwiceIsOnce(t *testing.T) {
	t.Parallel()
	r, set := loaded(t)
	m := sampler{Rand: rand.New(rand.NewPCG(5, 5))}
	parts := []string{"\n", " ", "\"", "=", ": ", "key", "token", "-----BEGIN PRIVATE KEY-----", "KEY-----", "[[", "curl -u "}
	for _, rule := range set.rules {
		c, _ := rule.compiled()
		parts = append(parts, m.sample(t, c.expr.String()))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		once, _, err := r.Text(s)
		twice, found, err2 := r.Text(once)
		if err != nil || err2 != nil || once != twice || found != nil {
			t.Fatalf("%q became %q, then %q %v (%v, %v)", s, once, twice, found, err, err2)
		}
	})
}

// TestRecordsAreLookedAtOneByOne: what opens in one record of a question and closes in another one takes no line of ours.
func TestRecordsAreLookedAtOneByOne(t *testing.T) {
	t.Parallel()
	const line = "\n[[0f1e2d3c4b5a %d: Read]]\n"
	text := "The mark of this message is 0f1e2d3c4b5a.\n"
	for i, part := range []string{"-----BEGIN PRIVATE KEY-----", "sourcegraph key: ", "x", strings.Repeat("y ", 50) + "KEY-----", "[[no mark]]\n\n[[", "end"} {
		text += fmt.Sprintf(line, i) + part
	}
	if got := New().TextOrAll(text); got != text {
		t.Errorf("-want +got:\n%s", cmp.Diff(text, got))
	}
	for _, s := range []string{"", "[[", "\n[[", "\n[[\n[[\n", "a\n[[b"} {
		if got := New().TextOrAll(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// TestBrokenRules: an error says which rule, and nothing of the text gets out.
func TestBrokenRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rules, want string }{
		{"x = [", "full: rules: "},
		{"title = 'none'", "full: rules: there are none"},
		{"[[rules]]\nid='a'\nregex='('\nkeywords=['k']", "full: rule a: error parsing regexp"},
		{"[[rules]]\nid='a'\nregex='k'\nsecretGroup=1", "full: rule a: there is no group 1"},
		{"[[rules]]\nid='a'\nregex='k'\n[[rules.allowlists]]\nregexes=['(']", "full: rule a: error parsing regexp"},
	} {
		r := from(c.rules)
		out, found, err := r.Text("the k is here")
		var bad *RuleError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) || out != "" || found != nil {
			t.Errorf("%s: got %q, %v, %v", c.rules, out, found, err)
		}
		if err := r.Load(); !errors.As(err, &bad) {
			t.Errorf("%s: Load says %v", c.rules, err)
		}
		if got := r.TextOrAll("the k is here"); got != All {
			t.Errorf("%s: got %q", c.rules, got)
		}
	}
	good := from("[[rules]]\nid='a'\nregex='k(e)(y)'\nsecretGroup=2\n[[rules]]\nid='b'\npath='x'")
	if out, _, err := good.Text("a key"); err != nil || out != "a ke[redacted:a]" {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestManyAtOnce: the first texts come all at once.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	r, s := New(), secrets.Make(2)[0]
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if out := r.TextOrAll("adobe api key: " + s.Text); strings.Contains(out, s.Find) {
				t.Errorf("got %q", out)
			}
		})
	}
	all.Wait()
}

// TestTimeGrowsWithTheText, and not with its square, whatever it holds.
func TestTimeGrowsWithTheText(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	r, _ := loaded(t)
	for _, part := range []string{
		"key=", "api_token: 'aaaaaaaaaa ", "-----BEGIN PRIVATE KEY-----\n", "curl -u a ", "secret data: kind: Secret\n", "sourcegraph ",
		"adobe facebook okta snyk ", "eyJ",
	} {
		growth.Linear(t, part, 4<<10, func(size int) {
			if _, _, err := r.Text(strings.Repeat(part, size/len(part))); err != nil {
				t.Fatal(err)
			}
		})
	}
}
