package observer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"401: authentication_error": "401: authentication_error",
		"no model claude-haiku-4-5-20251001, ask again":         "no model claude-haiku-4-5-20251001, ask again",
		"Incorrect API key provided: sk-ant-api03-AbCdEf12345.": "Incorrect API key provided: [secret].",
		"key=AIzaSyD1234567890&x=1":                             "key=[secret]&x=1",
		"Authorization: Bearer " + strings.Repeat("a1", 20):     "Authorization: Bearer [secret]",
		"https://user:ghp_0123456789abcdef@example.com/":        "https://user:[secret]@example.com/",
		"request 018f3c1e-7b2a-7c41-9d53-1a2b3c4d5e6f failed":   "request 018f3c1e-7b2a-7c41-9d53-1a2b3c4d5e6f failed",
		"sk-8 is a road": "sk-8 is a road",
		"la clé sk-proj-0123456789 n’est pas valide": "la clé [secret] n’est pas valide",
	} {
		if got := Scrub(text); got != want {
			t.Errorf("Scrub(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestNoKeyIsLeftWhereverItStands(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		around := rapid.StringMatching(`[ .,:;"'()<>é]{1,20}`)
		key := rapid.SampledFrom(keyPrefixes()).Draw(t, "prefix") + rapid.StringMatching(`[A-Za-z0-9]{8,60}`).Draw(t, "key")
		got := Scrub(around.Draw(t, "before") + key + around.Draw(t, "after"))
		if strings.Contains(got, key) || !strings.Contains(got, scrubbed) || !utf8.ValidString(got) {
			t.Fatalf("%q is left in %q", key, got)
		}
	})
}
