package terminal

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestVisible holds to the texts that the page is held to too.
func TestVisible(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/visible.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Name, In, Text, Line string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range append(cases, struct{ Name, In, Text, Line string }{"bad bytes", "a\xffb", `a\xffb`, `a\xffb`}) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if got := Visible(c.In); got != c.Text {
				t.Errorf("visible(%q) = %q, want %q", c.In, got, c.Text)
			}
			if got := VisibleLine(c.In); got != c.Line {
				t.Errorf("visibleLine(%q) = %q, want %q", c.In, got, c.Line)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "a\x1b[2Jb", "\u202e\u2066", "\xff\xfe", "x\r\ny\tz", "\U000e0001", "\u009b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, line := Visible(s), VisibleLine(s)
		for _, r := range text {
			if deceives(r) && r != '\n' && r != '\t' {
				t.Fatalf("visible(%q) = %q keeps %U", s, text, r)
			}
		}
		if strings.ContainsFunc(line, deceives) {
			t.Fatalf("visibleLine(%q) = %q keeps a character that deceives", s, line)
		}
		if !utf8.ValidString(text) || Visible(text) != text || VisibleLine(line) != line {
			t.Fatalf("%q became %q and %q", s, text, line)
		}
	})
}
