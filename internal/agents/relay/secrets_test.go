package relay

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/testkit/race"
	"github.com/cmemd/cmemd/testkit/secrets"
)

// TestSecretsAreNotSpooled: whatever form JSON gives them, and whether or not the payload is whole.
func TestSecretsAreNotSpooled(t *testing.T) {
	t.Parallel()
	for _, s := range race.Sample(secrets.Make(21)) {
		plain, err := json.Marshal(map[string]any{"hook_event_name": "PostToolUse", "tool_response": "a\n" + s.Text + "\nb \u00e9", "n": 1})
		if err != nil {
			t.Fatal(err)
		}
		for name, body := range map[string]string{
			"plain":     string(plain),
			"slashes":   strings.ReplaceAll(string(plain), "/", `\/`),
			"escapes":   strings.ReplaceAll(string(plain), s.Find[:1], `\u00`+hexOf(s.Find[0])),
			"colours":   strings.ReplaceAll(string(plain), s.Find[:8], s.Find[:4]+`\u001b[01;31m`+s.Find[4:8]),
			"charset":   strings.ReplaceAll(string(plain), s.Find[:8], s.Find[:4]+`\u001b(B\u001b[m`+s.Find[4:8]),
			"cut":       string(plain[:len(plain)-5]),
			"two deep":  quote(t, string(plain)),
			"no JSON":   "payload: " + s.Text + "\n",
			"an escape": strings.Replace(string(plain), s.Find[:6], s.Find[:5]+`\u0000`+s.Find[5:6], 1),
		} {
			spool := NewSpool(t.TempDir())
			file, err := spool.Put(Entry{Agent: "claude-code", Delivery: delivery, OccurredAt: time.Unix(1e9, 0), Body: []byte(body)})
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(spool.dir, "new", file))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(unescaped(string(data)), s.Find) || strings.Contains(string(data), s.Find[6:14]) {
				t.Errorf("%s, %s: %q is in the file: %s", s.Rule, name, s.Find, data)
			}
			got, err := spool.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := got.Redactions[s.Rule]; n != 1 && name != "colours" && name != "charset" || n == 0 || len(got.Redactions) != 1 {
				t.Errorf("%s, %s: counted %v in %s", s.Rule, name, got.Redactions, data) // colours may cut one in two
			}
			if json.Valid([]byte(body)) != json.Valid(got.Body) {
				t.Errorf("%s, %s: was JSON %v, is %s", s.Rule, name, json.Valid([]byte(body)), got.Body)
			}
		}
	}
}

const delivery = "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"

func hexOf(c byte) string { return string([]byte{"0123456789abcdef"[c>>4], "0123456789abcdef"[c&15]}) }

func quote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

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

func TestCountsInAHeader(t *testing.T) {
	t.Parallel()
	counts := map[string]int{"github-token": 2, "password": 1}
	text := string(appendCounts(nil, counts))
	if text != "github-token=2 password=1" {
		t.Errorf("got %q", text)
	}
	if diff := cmp.Diff(counts, readCounts(text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := readCounts("x=0 y=-1 z =3 Q=1 ../a=2 b=x"); got != nil {
		t.Errorf("got %v", got)
	}
}
