package claudecli

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDefuse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                           "",
		"plain":                      "plain",
		"see @/etc/passwd now":       `see \@/etc/passwd now`,
		"@/etc/passwd":               `\@/etc/passwd`,
		"a\n@~/.ssh/id_rsa":          "a\n\\@~/.ssh/id_rsa",
		"a\t@../secret":              "a\t\\@../secret",
		"a @x/../../secret":          `a \@x/../../secret`,
		`a @"/etc/a file"`:           `a \@"/etc/a file"`,
		`a @C:\secret`:               `a \@C:\secret`,
		"a @server:resource":         `a \@server:resource`,
		"a @$HOME/x":                 `a \@$HOME/x`,
		"a\ufeff@/etc/passwd":        "a\ufeff\\@/etc/passwd",
		"a\u00a0@/etc/passwd":        "a\u00a0\\@/etc/passwd",
		"a\u3000@/etc/passwd":        "a\u3000\\@/etc/passwd",
		"@/a @/b":                    `\@/a \@/b`,
		"@@/etc/passwd":              "@@/etc/passwd",
		"a '@/components/x'":         "a '@/components/x'",
		"a @Override b":              "a @Override b",
		"npm i @scope/package@1.2.3": "npm i @scope/package@1.2.3",
		"me@example.org":             "me@example.org",
		"a @":                        "a @",
		"a @ /b":                     "a @ /b",
		"/compact":                   `\/compact`,
		" \n/compact":                `\` + " \n/compact",
		"a /compact":                 "a /compact",
	} {
		if got := defuse(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestDefusedMentionsNothing looks for what the client's expressions would find.
func TestDefusedMentionsNothing(t *testing.T) {
	t.Parallel()
	mention := regexp.MustCompile(`(^|[\s\x{feff}\x{a0}\x{3000}\x{2028}])@("[^"]*"|[^\s\x{feff}\x{a0}\x{3000}\x{2028}]*)`)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.SampledFrom([]string{
			"@", "/", "~", "..", " ", "\n", "\ufeff", "\u3000", `"`, "a", "é", "\xff", "etc", `\`, ":", "'",
		})).Draw(t, "words")
		in := strings.Join(words, "")
		out := defuse(in)
		for _, m := range mention.FindAllStringSubmatch(out, -1) {
			if strings.HasPrefix(m[2], "/") || strings.HasPrefix(m[2], "~") || strings.HasPrefix(m[2], `"`) || strings.Contains(m[2], "..") {
				t.Fatalf("%q became %q, which mentions %q", in, out, m[2])
			}
		}
		if strings.HasPrefix(strings.TrimSpace(out), "/") {
			t.Fatalf("%q became %q, which is a command", in, out)
		}
		if strings.ReplaceAll(out, `\`, "") != strings.ReplaceAll(in, `\`, "") {
			t.Fatalf("%q became %q", in, out)
		}
	})
}
