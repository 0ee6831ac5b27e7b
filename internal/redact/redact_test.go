package redact_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/internal/redact"
	"github.com/cmemd/cmemd/testkit/secrets"
)

// TestEachKindIsFound plants what was made up in texts of the kinds that tools print.
func TestEachKindIsFound(t *testing.T) {
	t.Parallel()
	r := redact.New()
	around := map[string][2]string{
		"alone": {"", ""}, "lines": {"first line\n", "\nlast line\n"}, "words": {"the deploy used ", " and failed"},
		"markdown": {"> `", "`\n"}, "log": {"2025-01-02T03:04:05Z INFO ", " ok=true"},
	}
	for seed := range uint64(20) {
		for _, s := range secrets.Make(seed) {
			for name, a := range around {
				out, found := r.Text(a[0] + s.Text + a[1])
				if strings.Contains(out, s.Find) || found[s.Rule] == 0 || !strings.Contains(out, redact.Mark(s.Rule)) {
					t.Errorf("seed %d, %s, %s: %q became %q, found %v", seed, name, s.Rule, s.Text, out, found)
				}
				if !strings.HasPrefix(out, strings.TrimRight(a[0], "\n")) || !strings.HasSuffix(out, a[1]) && a[1] != "\nlast line\n" {
					t.Errorf("%s, %s: what stands around was changed: %q", name, s.Rule, out)
				}
			}
		}
	}
}

// TestEachKindIsFoundInJSON does the same in a JSON text, and in one that is quoted in another one, twice.
func TestEachKindIsFoundInJSON(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for seed := range uint64(20) {
		for _, s := range secrets.Make(seed) {
			text := "before\n" + s.Text + "\n\"after\"\t"
			for depth := range 3 {
				text = quoted(t, map[string]any{"stdout": text, "n": 1})
				out, found := r.JSON(text)
				if strings.Contains(out, strings.ReplaceAll(s.Find, "/", `\/`)) || strings.Contains(out, s.Find) || found[s.Rule] == 0 {
					t.Fatalf("seed %d, depth %d, %s: %s became %s, found %v", seed, depth, s.Rule, text, out, found)
				}
				if !json.Valid([]byte(out)) {
					t.Fatalf("seed %d, depth %d, %s: no JSON: %s", seed, depth, s.Rule, out)
				}
			}
		}
	}
}

// TestKeysInLists: a file that is told line by line has a string for each line of a key.
func TestKeysInLists(t *testing.T) {
	t.Parallel()
	r := redact.New()
	a, b := strings.Repeat("q7Zr2Lw9", 8), strings.Repeat("Xk4Tn8Vb", 8)
	const begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
	mark := redact.Mark("private-key")
	for name, c := range map[string]struct{ in, want []string }{
		"lines":       {[]string{"x", begin, a, b, "Xk4Tn8==", end, "y"}, []string{"x", mark, mark, mark, mark, mark, "y"}},
		"a patch":     {[]string{" x", "+" + begin, "+" + a, "+Xk4Tn8==", "+" + end, "+y"}, []string{" x", "+" + mark, mark, mark, mark, "+y"}},
		"taken out":   {[]string{" x", "-" + begin, "-" + a, "-Xk4Tn8==", "-" + end, " y"}, []string{" x", "-" + mark, mark, mark, mark, " y"}},
		"unchanged":   {[]string{" " + begin, " " + a, " " + end, "+y"}, []string{" " + mark, mark, mark, "+y"}},
		"line ends":   {[]string{"x\n", begin + "\n", a + "\r\n", end + "\n", "y"}, []string{"x\n", mark, mark, mark + "\n", "y"}},
		"with blanks": {[]string{"x", "  " + begin, "  " + a, "", "  " + end}, []string{"x", "  " + mark, mark, "", mark}},
		"cut off":     {[]string{begin, a, b}, []string{mark, mark, mark}},
		"its end":     {[]string{"-x y", "-" + a, "-Xk4Tn8==", "-" + end, "y"}, []string{"-x y", "-" + mark, mark, mark, "y"}},
		"its end, +":  {[]string{a, "+" + b, "+" + end, "y"}, []string{mark, mark, mark, "y"}},
		"in lines":    {[]string{"x\n" + begin + "\n" + a, b + "\n" + end, "y"}, []string{"x\n" + mark, mark, "y"}},
		"a begin":     {[]string{begin, "is how it begins", "y"}, []string{begin, "is how it begins", "y"}},
	} {
		for _, sep := range []string{",", " ,\n\t"} {
			join := func(list []string) string {
				var parts []string
				for _, s := range list {
					parts = append(parts, quoted(t, s))
				}
				return `{"lines":[` + strings.Join(parts, sep) + `],"n":1}`
			}
			got, found := r.JSON(join(c.in))
			if got != join(c.want) {
				t.Errorf("%s:\n got %s\nwant %s", name, got, join(c.want))
			}
			if n := found["private-key"]; name != "a begin" && (n != 1 || len(found) != 1) {
				t.Errorf("%s: found %v", name, found)
			}
			if again, _ := r.JSON(got); again != got {
				t.Errorf("%s: the second time it is %s", name, again)
			}
		}
	}
}

// TestMembersBesideKeys: what stands beside a key in an object is no line of it.
func TestMembersBesideKeys(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("q7Zr2Lw9", 8)
	in := `{"key" : "-----BEGIN PRIVATE KEY-----\n` + key + `\n","k8sId":"` + key + `"}`
	want := `{"key" : "[redacted:private-key]\n","k8sId":"` + key + `"}`
	if got, _ := redact.New().JSON(in); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func quoted(t testing.TB, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// TestKindsAreRules: what is planted has the names that there are.
func TestKindsAreRules(t *testing.T) {
	t.Parallel()
	rules := redact.Rules()
	if len(rules) < 80 {
		t.Errorf("there are %d rules", len(rules))
	}
	kinds := map[string]bool{}
	for _, s := range secrets.Make(1) {
		kinds[s.Rule] = true
		if !slices.Contains(rules, s.Rule) {
			t.Errorf("%s is no rule", s.Rule)
		}
	}
	if len(kinds) < 40 {
		t.Errorf("there are %d kinds", len(kinds))
	}
}

func TestTextWithoutSecretsIsItself(t *testing.T) {
	t.Parallel()
	const s = "go test ./... ok"
	out, found := redact.New().Text(s)
	if out != s || found != nil {
		t.Errorf("got %q, %v", out, found)
	}
}

func TestMarked(t *testing.T) {
	t.Parallel()
	const s = "a [redacted:x] b [redacted: c] [redacted:y][redacted:z]"
	for _, c := range []struct {
		part string
		want bool
	}{
		{"[redacted:x]", true}, {" [redacted:x] ", true}, {"redacted:x", true}, {"x", true}, {"a [redacted:x]", false}, {"[redacted:x] b", false},
		{"b", false}, {"c]", true}, {"[redacted:y][redacted:z]", false}, {"[redacted:z]", true}, {"a [", false},
	} {
		at := strings.LastIndex(s, c.part)
		if got := redact.Marked(s, at, at+len(c.part)); got != c.want {
			t.Errorf("%q: got %v", c.part, got)
		}
	}
	if redact.Marked("[redacted:"+strings.Repeat("x", 100)+"]", 20, 30) || redact.Marked("", 0, 0) || redact.Marked("[redacted:x", 0, 11) {
		t.Error("what is no mark counts as one")
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	want := map[string]int{}
	for _, s := range secrets.Make(7) {
		text.WriteString(s.Text + "\n\n")
		want[s.Rule]++
	}
	_, found := redact.New().Text(text.String())
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// pieces are what the texts of the property tests are made of: secrets, and whatever stands near them.
func pieces() []string {
	all := []string{
		"\n", " ", "\"", "'", "`", `\`, `\n`, `\"`, `\u00e9`, `\u0000`, "=", ":", ": ", ",", ";", "{", "}", "[", "]", "<", ">", "-----BEGIN ", "-----END ",
		"PRIVATE KEY-----", "password", "token", "API_KEY", "secret", "--password", "value", "name", "Authorization", "Bearer ", "Basic ",
		"https://", "user:", "@host", "Cookie: ", "abc", "123", "deadbeefdeadbeef", "[redacted:secret]", "[redacted:", "é", "\x00", "-us", ".atlasv1.", ":AA", "eyJ",
		"sk-", "ghp_", "npm_", "Q~", " -u ", " is ", "=>", "true", "12345678",
		"Private-Lines: 2\n", "ConvertTo-SecureString ", "-AsPlainText", "echo ", "|", "--password-stdin", "create secret ", "--from-literal=", "vault kv put ",
		"pw=", "gh secret set ", "--body ", "otpauth://x?secret=", "SSWS 00", "set -x ", "setx ",
	}
	for _, s := range secrets.Make(3) {
		all = append(all, s.Text, s.Find)
	}
	return all
}

// TestTwiceIsOnce: to redact what was redacted changes nothing, and marks no more.
func TestTwiceIsOnce(t *testing.T) {
	t.Parallel()
	r, parts := redact.New(), pieces()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 40).Draw(t, "parts"), "")
		for name, f := range map[string]func(string) (string, map[string]int){"text": r.Text, "JSON": r.JSON} {
			once, _ := f(s)
			if twice, found := f(once); twice != once || found != nil {
				t.Fatalf("%s: %q became %q, then %q %v", name, s, once, twice, found)
			}
		}
	})
}

// TestJSONStaysJSON: whatever stands in its strings and numbers, with the same members in the same order.
func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	r, parts := redact.New(), pieces()
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.ToValidUTF8(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), ""), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		inner := rapid.SliceOfN(rapid.OneOf(
			rapid.Map(text, func(s string) any { return s }),
			rapid.Map(rapid.Int(), func(n int) any { return n }),
			rapid.Map(text, func(s string) any { return map[string]any{"name": s, "value": s, s: 12345678} }),
			rapid.Map(text, func(s string) any { b, _ := json.Marshal(map[string]string{s: s}); return string(b) }),
		), 0, 5).Draw(t, "values")
		b, err := json.Marshal(inner)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := r.JSON(string(b))
		var got []any
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != len(inner) {
			t.Fatalf("%s became %s: %v", b, out, err)
		}
	})
}

// TestNumbersInJSON: a number behind the name of a password is one where a string of its digits would be, and becomes a string.
func TestNumbersInJSON(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for in, want := range map[string]string{
		`{"password": 12345678}`:                `{"password": "[redacted:password]"}`,
		`{"db":{"DB_PASSWORD":12345678,"n":1}}`: `{"db":{"DB_PASSWORD":"[redacted:password]","n":1}}`,
		`{"user's password":12345678}`:          `{"user's password":"[redacted:password]"}`,
		`{"secret": 99887766 }`:                 `{"secret": "[redacted:secret]" }`,
		`{"password": 8, "passwords": 123456}`:  `{"password": 8, "passwords": 123456}`,
		`{"password\\": 12345678}`:              `{"password\\": 12345678}`,
		`{"max_tokens": 12345678}`:              `{"max_tokens": 12345678}`,
	} {
		for range 3 { // in a text that is quoted in another one, too
			if got, _ := r.JSON(in); got != want || !json.Valid([]byte(got)) {
				t.Errorf("%s\nbecame %s\n  want %s", in, got, want)
			}
			if got, _ := r.Text(in); got != want {
				t.Errorf("the text %s\nbecame %s\n  want %s", in, got, want)
			}
			in, want = quoted(t, map[string]string{"output": in}), quoted(t, map[string]string{"output": want})
		}
	}
}

// TestBackslashAtTheEndOfAString: the quote behind one is the JSON's own, and what follows is no value of a name in front of it.
func TestBackslashAtTheEndOfAString(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`["otpauth://x?secret=\\",100000]`, `["secret=\\",12345678]`, `{"a":"password=\\","b":"password=\\\\"}`} {
		if out, found := redact.New().JSON(s); out != s || found != nil {
			t.Errorf("%s became %s, %v", s, out, found)
		}
	}
}

// TestQuotesInNestedStrings: however often a string was quoted, a value goes as a whole, with the quotes and backslashes that it has of its
// own, and what it stands in stays JSON.
func TestQuotesInNestedStrings(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, value := range []string{`Tr0ub"4dor9x`, `Tr0ub4dor9x\`, `Tr0ub\4dor9x`, `Tr0ub\"4dor9x"`, `Tr0ub"4dor\\`, "Tr0ub\n4dor9x"} {
		in, want := any(map[string]any{"password": value, "n": 1}), any(map[string]any{"password": redact.Mark("password"), "n": 1})
		for depth := range 4 {
			text, wanted := quoted(t, in), quoted(t, want)
			if got, _ := r.JSON(text); got != wanted {
				t.Errorf("depth %d: %s\nbecame %s\n  want %s", depth, text, got, wanted)
			}
			in, want = map[string]any{"output": text}, map[string]any{"output": wanted}
		}
	}
	in := quoted(t, map[string]string{"output": quoted(t, map[string]string{"a": `password="Tr0ub4dor9x`, "b": "c"})})
	want := strings.Replace(in, "Tr0ub4dor9x", redact.Mark("password"), 1)
	if got, _ := r.JSON(in); got != want {
		t.Errorf("cut short: %s became %s", in, got)
	}
}

// TestQuotesOfAShell: a value that a shell joins of several strings goes as a whole, however these are quoted in the JSON that holds the command.
func TestQuotesOfAShell(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, command := range []string{
		`curl -d "{\"password\":\"Tr0ub"'4dor9xyz'"\"}" https://shop.example`,
		`curl -d "{\"password\":\"Tr0ub"$MID"4dor9xyz\"}" https://shop.example`,
		`printf "password=\"Tr0ub"'4dor9xyz'"\""`,
	} {
		text := quoted(t, map[string]string{"command": command})
		if got, _ := r.JSON(text); strings.Contains(got, "Tr0ub") || strings.Contains(got, "4dor9xyz") {
			t.Errorf("%s\nbecame %s", text, got)
		}
	}
}

// TestEscapedSlashes: the password of an address goes however often what holds it was quoted, and whichever of its quotings escaped slashes.
func TestEscapedSlashes(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for choice := range 1 << 4 {
		text := quoted(t, "see https://bob:Tr0ub4dor9xyz@shop.example/a")
		for depth := range 4 {
			if choice>>depth&1 == 1 {
				text = strings.ReplaceAll(text, "/", `\/`)
			}
			if got, _ := r.JSON(text); strings.Contains(got, "4dor9xyz") || !json.Valid([]byte(got)) {
				t.Errorf("%s\nbecame %s", text, got)
			}
			text = quoted(t, map[string]string{"output": text})
		}
	}
}

// FuzzRedact: no panic, no change at the second time, JSON stays JSON.
func FuzzRedact(f *testing.F) {
	for _, s := range secrets.Make(1) {
		f.Add(s.Text)
	}
	f.Add(strings.Join(pieces(), ""))
	f.Add(`{"password": 12345678}`)
	r := redact.New()
	f.Fuzz(func(t *testing.T, s string) {
		once, _ := r.Text(s)
		if twice, _ := r.Text(once); twice != once && len(s) < 1<<12 {
			t.Errorf("%q became %q, then %q", s, once, twice)
		}
		for _, text := range []string{s, quoted(t, s)} {
			if out, _ := r.JSON(text); json.Valid([]byte(text)) && !json.Valid([]byte(out)) {
				t.Errorf("JSON %q became %q", text, out)
			}
		}
	})
}
