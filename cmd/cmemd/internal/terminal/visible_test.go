package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, text, line string }{
		{"empty", "", "", ""},
		{"plain", "go test ./...", "go test ./...", "go test ./..."},
		{"words", "größer 日本語 🙂", "größer 日本語 🙂", "größer 日本語 🙂"},
		{"lines", "a\n\tb", "a\n\tb", "a  b"},
		{"windows lines", "a\r\nb", "a\nb", "a b"},
		{"carriage return hides what stood there", "safe\revil", `safe\x0devil`, `safe\x0devil`},
		{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`},
		{"title of the window", "\x1b]0;x\a", `\x1b]0;x\x07`, `\x1b]0;x\x07`},
		{"one-byte sequence introducer", "\u009b31m", `\u009b31m`, `\u009b31m`},
		{"backspace and delete", "a\b\x7f", `a\x08\x7f`, `a\x08\x7f`},
		{"zero", "a\x00b", `a\x00b`, `a\x00b`},
		{"override", "file\u202egpj.exe", `file\u202egpj.exe`, `file\u202egpj.exe`},
		{"isolate", "\u2066x\u2069", `\u2066x\u2069`, `\u2066x\u2069`},
		{"mark", "\u200fx\u061c", `\u200fx\u061c`, `\u200fx\u061c`},
		{"line separators", "a\u2028b\u2029c", `a\u2028b\u2029c`, `a\u2028b\u2029c`},
		{"no width", "pass\u200bword\ufeff", `pass\u200bword\ufeff`, `pass\u200bword\ufeff`},
		{"tags that only a model reads", "a\U000e0041", `a\U000e0041`, `a\U000e0041`},
		{"joiners stay", "👩\u200d💻", "👩\u200d💻", "👩\u200d💻"},
		{"bad bytes", "a\xffb", `a\xffb`, `a\xffb`},
		{"a replacement character that was there", "a\ufffdb", "a\ufffdb", "a\ufffdb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Visible(c.in); got != c.text {
				t.Errorf("visible(%q) = %q, want %q", c.in, got, c.text)
			}
			if got := VisibleLine(c.in); got != c.line {
				t.Errorf("visibleLine(%q) = %q, want %q", c.in, got, c.line)
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
