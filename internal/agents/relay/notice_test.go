package relay

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNotice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"blank", " \n ", ""},
		{"one line", "all is lost", "[cmemd-notice: all is lost]"},
		{"lines", "all\r\n is\tlost", "[cmemd-notice: all is lost]"},
		{"brackets", "[a] ]", "[cmemd-notice: (a) )]"},
		{"a notice", "[cmemd-notice: all is lost]", "[cmemd-notice: all is lost]"},
		{"no real notice", "[cmemd-notice: all] is lost]", "[cmemd-notice: (cmemd-notice: all) is lost)]"},
		{"invalid", "a\xff", "[cmemd-notice: a\uFFFD]"},
	} {
		if got := Notice(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	long := Notice(strings.Repeat("日", MaxNotice))
	if len(long) > MaxNotice || len(long) < MaxNotice-3 || !strings.HasSuffix(long, "...]") || strings.Contains(long, "\uFFFD") {
		t.Errorf("a long one: got %d bytes, %q", len(long), long)
	}
	for in, want := range map[string]string{"[cmemd-notice: a b]": "a b", "a": "a", "[cmemd-notice: a": "[cmemd-notice: a", "": ""} {
		if got := PlainNotice(in); got != want {
			t.Errorf("plain %q: got %q, want %q", in, got, want)
		}
	}
}

// TestNoticesAreTold: whatever the text, a notice is one line that ends with its only closing mark, and again is the same.
func TestNoticesAreTold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if rapid.Bool().Draw(t, "marked") {
			text = NoticeOpen + " " + text + NoticeClose
		}
		got := Notice(text)
		if got == "" && strings.TrimSpace(text) == "" {
			return
		}
		if len(got) > MaxNotice || strings.ContainsAny(got, "\n\r") || strings.Index(got, NoticeClose) != len(got)-1 || !strings.HasPrefix(got, NoticeOpen) {
			t.Fatalf("got %q", got)
		}
		if again := Notice(got); again != got {
			t.Fatalf("again: got %q, want %q", again, got)
		}
		if again := Notice(PlainNotice(got)); again != got {
			t.Fatalf("plain and again: got %q, want %q", again, got)
		}
	})
}
