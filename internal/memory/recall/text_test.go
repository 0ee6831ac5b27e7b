package recall

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 5, "short"},
		{"shorter", 5, "shor…"},
		{"a few words more", 14, "a few words…"},
		{"\U0001F600\U0001F600", 4, "\U0001F600\U0001F600"},
		{"\U0001F600\U0001F600", 3, "\U0001F600…"},
		{"a\u0301\u0301bc", 3, "…"},
		{"abc", 0, ""},
	} {
		if got := shorten(tc.text, tc.limit); got != tc.want {
			t.Errorf("%q in %d: got %q, want %q", tc.text, tc.limit, got, tc.want)
		}
	}
}

func TestOneLineIsOneBoundedLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.String().Draw(r, "text")
		limit := rapid.IntRange(0, 60).Draw(r, "limit")
		got := oneLine(text, limit)
		if size(got) > limit || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x00\x1b") || strings.TrimSpace(got) != got {
			r.Errorf("%q in %d: got %q", text, limit, got)
		}
	})
}

// TestOneLineLeavesALine: what is one line already is cut alone, and comes out as it does in front of what must be folded.
func TestOneLineLeavesALine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringMatching(`([a-z.<]{1,9} ){0,9}[a-z]`).Draw(r, "text")
		limit := rapid.IntRange(0, 60).Draw(r, "limit")
		if got, want := oneLine(text, limit), oneLine("\n"+text, limit); got != want || len(text) <= limit && got != text {
			r.Errorf("%q in %d: got %q, want %q", text, limit, got, want)
		}
	})
}

func TestNeutralNeverGrows(t *testing.T) {
	t.Parallel()
	recall := &Recall{cfg: Config{Fence: fenceName}}
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"<", "</", "memory-fence", "MEMORY-FENCE", ">", " ", "system-reminder", "a", "<b>"})).Draw(r, "text"), "")
		got := recall.neutral(text)
		low := strings.ToLower(got)
		if size(got) > size(text) || strings.Contains(low, "<memory-fence") || strings.Contains(low, "</memory-fence") || strings.Contains(low, "<system-reminder") {
			r.Errorf("%q: got %q", text, got)
		}
	})
	if got := recall.neutral("List<String> <b>x</b>"); got != "List<String> <b>x</b>" {
		t.Errorf("harmless tags are changed: %q", got)
	}
}
