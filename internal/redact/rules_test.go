package redact

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/growth"
)

// TestEachPrefix: what its maker's prefix and characters of its class make is found by the rule, whoever else knows the
// prefix too; what is drawn too short or too long, or is no more than a prefix and a word, is not.
func TestEachPrefix(t *testing.T) {
	t.Parallel()
	r, random := New(), rand.New(rand.NewPCG(4, 2))
	kinds := 0
	for _, rule := range tokenRules() {
		chars := charsOf(rule.tail)
		for prefix := range strings.FieldsSeq(rule.prefixes) {
			kinds++
			secret := prefix + draw(random, chars, rule.min)
			text := "see " + secret + " there"
			out, found := r.Text(text)
			if found[rule.name] != 1 || strings.Contains(out, secret[len(prefix):]) {
				t.Errorf("%s: %q became %q, found %v", rule.name, text, out, found)
			}
			for _, s := range []string{
				prefix + draw(random, chars, max(1, min(4, rule.min-1))), prefix + strings.Repeat("x", rule.min), "ab" + prefix + "-and-words", prefix,
			} {
				if out, found := r.Text("see " + s + " there"); found != nil {
					t.Errorf("%s: %q became %q", rule.name, s, out)
				}
			}
		}
	}
	if kinds < 200 {
		t.Errorf("there are %d kinds, want 200", kinds)
	}
}

// TestTableOfTokens: each row says where its form is told and when it was entered.
func TestTableOfTokens(t *testing.T) {
	t.Parallel()
	for row := range rowsOf(tokenTable, 8) {
		if _, err := time.Parse(time.DateOnly, row[7]); err != nil || !strings.Contains(row[6], ".") {
			t.Errorf("%s: its source is %q, entered %q", row[0], row[6], row[7])
		}
	}
}

func charsOf(class func(byte) bool) (chars []byte) {
	for c := byte(' '); c < 0x7f; c++ {
		if class(c) && (isAlnum(c)) {
			chars = append(chars, c)
		}
	}
	return chars
}

// draw makes up a text of digits and letters in turn: what is drawn by lot, without the chance of a word.
func draw(random *rand.Rand, chars []byte, n int) string {
	out := make([]byte, 0, n)
	for i := 0; len(out) < n; {
		if c := chars[random.IntN(len(chars))]; isDigit(c) == (i%3 == 0) && !slices.Contains(out[max(0, len(out)-4):], c) {
			out = append(out, c)
			i++
		}
	}
	return string(out)
}

// TestLengthsAreHeld: a token of a fixed length is none with a character more.
func TestLengthsAreHeld(t *testing.T) {
	t.Parallel()
	r, random := New(), rand.New(rand.NewPCG(1, 2))
	for _, rule := range tokenRules() {
		if rule.max == 0 {
			continue
		}
		prefix, _, _ := strings.Cut(rule.prefixes, " ")
		s := prefix + draw(random, charsOf(rule.tail), rule.max+1)
		if out, found := r.Text(s); found[rule.name] != 0 {
			t.Errorf("%s: %q became %q", rule.name, s, out)
		}
	}
}

func TestRulesHaveOneNameEach(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range tokenRules() {
		if seen[rule.name] {
			t.Errorf("%s stands twice", rule.name)
		}
		seen[rule.name] = true
	}
	if !slices.IsSorted(Rules()) {
		t.Error("Rules is not sorted")
	}
}

// TestTimeGrowsWithTheText, and not with its square, whatever it is made of so that it has to be looked at again and again.
func TestTimeGrowsWithTheText(t *testing.T) {
	t.Parallel()
	r := New()
	for _, part := range []string{
		"sk-", "password=", "token:'", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "eyJ-", "eyJ.", "https://a:",
		"/api/webhooks/", `\\`, "xai-sk-", "cookie:a=", "cookie: a=b;", "Bearer ", "Basic ", ":AA", "api key is ", "--token ", "1//0",
		"token=\"\\\"", "key-", "authorization: a ", "-aa1Q~", "curl -u a:b", "SG.", "eyJaaaaaaaaaa.", "key", "pass", "aaaaaaaaaaaaaa.atlasv1.",
		"a=token:", "-us1", `"-----BEGIN PRIVATE KEY-----",`, `"-----END PRIVATE KEY-----",`, `"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","`, `",     "`,
		"private-lines: 9 ", "private-lines: 9\n", "convertto-securestring '", "echo a|--password-stdin", "|--password-stdin", "create secret --from-literal=a=",
		"vault kv put a=b ", "vault kv put a='", "gh secret set -", "otpauth:", "otpauth:?secret=", "SSWS ", "set -x token ", "salt=", "access-sandbox-",
	} {
		for _, end := range []string{"b", ".", "a"} {
			growth.Linear(t, part+" and "+end, 4<<10, func(size int) {
				s := strings.Repeat(part, size/len(part)) + strings.Repeat(end, size)
				r.spans(s, pass{general: true})
				r.spans(s, pass{json: true, general: true})
			})
		}
	}
}

func FuzzKeywords(f *testing.F) {
	f.Add("he she his hers", "ushers and HERS")
	f.Add("a aa aaa", "aaaa")
	f.Fuzz(func(t *testing.T, words, s string) {
		list := strings.Fields(strings.ToLower(words))
		if len(list) > 20 || len(s) > 200 || strings.ContainsFunc(words+s, func(r rune) bool { return r > 0x7f }) {
			return
		}
		got := map[[2]int]int{}
		last := 0
		NewKeywords(list).Each(s, func(word, end int) bool {
			got[[2]int{word, end}]++
			if end < last {
				t.Errorf("%d comes behind %d", end, last)
			}
			last = end
			return true
		})
		n := 0
		for id, w := range list {
			for end := len(w); end <= len(s); end++ {
				if strings.EqualFold(s[end-len(w):end], w) {
					if n++; got[[2]int{id, end}] != 1 {
						t.Errorf("%q in %q: %q that ends at %d is found %d times", words, s, w, end, got[[2]int{id, end}])
					}
				}
			}
		}
		if n != len(got) {
			t.Errorf("%q in %q: found %d, want %d", words, s, len(got), n)
		}
	})
}
