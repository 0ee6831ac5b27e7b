package jsonscan

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestStringMember(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, payload, want string }{
		{"first", `{"hook_event_name":"Stop"}`, "Stop"},
		{"after others", `{"a":1,"b":[1,{"c":null}],"hook_event_name":"SessionStart","d":true}`, "SessionStart"},
		{"spaced", " {\n\t\"hook_event_name\" :\r\n \"Stop\" } ", "Stop"},
		{"escaped key and value", `{"hook\u005fevent_name":"\u0053top"}`, "Stop"},
		{"nested only", `{"tool_input":{"hook_event_name":"SessionStart"}}`, ""},
		{"nested in an array", `{"a":[{"hook_event_name":"SessionStart"}]}`, ""},
		{"nested before", `{"tool_input":{"hook_event_name":"SessionStart"},"hook_event_name":"Stop"}`, "Stop"},
		{"quoted in a string", `{"a":"\"hook_event_name\":\"SessionStart\"","hook_event_name":"Stop"}`, "Stop"},
		{"as a value", `{"a":"hook_event_name","b":"SessionStart"}`, ""},
		{"in an array", `["hook_event_name","SessionStart"]`, ""},
		{"no string", `{"hook_event_name":7}`, ""},
		{"an object", `{"hook_event_name":{},"x":"SessionStart"}`, ""},
		{"an array", `{"hook_event_name":["SessionStart"]}`, ""},
		{"the first string of two", `{"hook_event_name":null,"hook_event_name":"Stop","hook_event_name":"SessionStart"}`, "Stop"},
		{"broken behind it", `{"hook_event_name":"Stop","tool_response":"cut he`, "Stop"},
		{"broken before it", `{"a":tru,"hook_event_name":"Stop"}`, ""},
		{"nothing", ``, ""},
		{"other letter case", `{"Hook_Event_Name":"Stop"}`, ""},
	} {
		if got := StringMember([]byte(c.payload), "hook_event_name"); got != c.want {
			t.Errorf("%s: StringMember(%s) = %q, want %q", c.name, c.payload, got, c.want)
		}
	}
}

// TestStringMemberOfRealPayloads reads what real agents sent, where such recordings lie beside the checkout.
func TestStringMemberOfRealPayloads(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../../shared/fixtures/hooks")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("no recorded payloads in %s", root)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Event string `json:"hook_event_name"`
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if got := StringMember(data, "hook_event_name"); got != want.Event {
			t.Errorf("%s: StringMember = %q, want %q", file, got, want.Event)
		}
	}
}

// referenceEvent finds the first top-level string member with the decoder of the standard library.
func referenceEvent(payload []byte) string {
	d := json.NewDecoder(bytes.NewReader(payload))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return ""
		}
		if s, ok := value.(string); ok && key == "hook_event_name" {
			return s
		}
	}
	return ""
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{"hook_event_name":"Stop"}`, `[1,-0.5e+3,"\ud83d\ude00\u12",{}]`, `{"a":{"b":[true,false,null]}}`, "\"\x01\"", `01`, `1.`, `-`,
		`{"a":1,}`, `[,]`, `{,}`, `{"a"}`, `[1 2]`, `{"a":1 "b":2}`, `]`, `"\x"`, `{"hook_event_name":"\ud800x"}`, ` null `, `nul`, `1e`, `1e5`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want := json.Valid(data)
		if got := Valid(data); got != want {
			t.Fatalf("Valid(%q) = %v, encoding/json says %v", data, got, want)
		}
		event := StringMember(data, "hook_event_name")
		if !want || !utf8.Valid(data) {
			return
		}
		if ref := referenceEvent(data); event != ref {
			t.Fatalf("StringMember(%q) = %q, encoding/json says %q", data, event, ref)
		}
	})
}

func TestScannerStopsAtTheDepthOfTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{maxDepth, maxDepth + 1} {
		text := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		if got, want := Valid(text), json.Valid(text); got != want {
			t.Errorf("depth %d: Valid = %v, encoding/json says %v", depth, got, want)
		}
	}
}

func TestQuoting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		quoted := AppendQuoted(nil, text)
		var std string
		if err := json.Unmarshal(quoted, &std); err != nil || std != text {
			t.Fatalf("encoding/json reads %s as %q (%v), want %q", quoted, std, err, text)
		}
		if got := Unquote(quoted); got != text {
			t.Fatalf("Unquote(%s) = %q, want %q", quoted, got, text)
		}
		escaped, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := Unquote(escaped); got != text {
			t.Fatalf("Unquote(%s) = %q, want %q", escaped, got, text)
		}
	})
}

func TestUnquoteSurrogates(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\ud83d\ude00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\u00e9\/\b\f\n\r\t\\\""`, `"\uD83D\uDE00"`,
	} {
		var want string
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatal(err)
		}
		if got := Unquote([]byte(raw)); got != want {
			t.Errorf("Unquote(%s) = %q, want %q", raw, got, want)
		}
	}
}

func BenchmarkStringMember(b *testing.B) {
	payload := []byte(`{"session_id":"x","hook_event_name":"PostToolUse","tool_response":"` + strings.Repeat("x", 64<<10) + `"}`)
	for b.Loop() {
		if StringMember(payload, "hook_event_name") != "PostToolUse" {
			b.Fatal("wrong name")
		}
	}
}
