package privacy

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPayloadsWithoutSecretsStay: byte for byte, with all their escapes.
func TestPayloadsWithoutSecretsStay(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{}`, `{"a":"\u0041\/\u001b[0m\u0000"}`, `{"path":"C:\\Users\\token","sha":"3943fd8c1f0a7b6e5d4c3b2a19081726354a5b6c"}`, "", "x", `{"a":"\u00`, `\`,
	} {
		out, found := redactBody([]byte(body))
		if string(out) != body || found != nil {
			t.Errorf("%s became %s, %v", body, out, found)
		}
	}
}

// TestUnescapedSaysTheSame: but for control characters, and in JSON only.
func TestUnescapedSaysTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var raw strings.Builder
		raw.WriteByte('"')
		for _, p := range rapid.SliceOf(rapid.SampledFrom([]string{
			"a", `\/`, `\\`, `\"`, `\n`, `\u0041`, `\u0022`, `\u005c`, `\u00e9`, `\ud83d\ude00`, `\u002F`, "é", "[0m",
		})).Draw(t, "parts") {
			raw.WriteString(p)
		}
		raw.WriteByte('"')
		var want, got string
		if err := json.Unmarshal([]byte(raw.String()), &want); err != nil {
			t.Fatal(err)
		}
		out := unescaped(raw.String())
		if err := json.Unmarshal([]byte(out), &got); err != nil || got != want {
			t.Fatalf("%s became %s: %q, want %q (%v)", raw.String(), out, got, want, err)
		}
	})
}

func TestColoursAreDropped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`a\u001b[31mb\u001b[0m`: "ab", `\u001b[K`: "", `\u001b]0;x`: "]0;x", `\u001b[`: "[", `\u001b[1"`: `[1"`, `\u0007x`: "x", `\u007Fx`: "x",
	} {
		if got := unescaped(in); got != want {
			t.Errorf("%s became %q, want %q", in, got, want)
		}
	}
}
