package memory

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/agents/importer"
	"github.com/cmemd/cmemd/internal/api"
)

func TestReasonsText(t *testing.T) {
	t.Parallel()
	for want, reasons := range map[string]importer.ReasonCount{
		"0": nil, "3 too long": {"too long": 3}, "9 b, 2 a, 2 c": {"c": 2, "a": 2, "b": 9},
	} {
		if got := reasonsText(reasons); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestMarkdownIsText(t *testing.T) {
	t.Parallel()
	hostile := "# head\n```\n<script>x</script>\n---\n[a](javascript:b) ![c](d)\x1b[31m"
	row := api.Row{Kind: "observation", Title: hostile, Narrative: hostile, Facts: []string{hostile, "plain"}, Concepts: []string{"a\nb"}}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	if err := errors.Join(writeMarkdown(w, row), w.Flush()); err != nil {
		t.Fatal(err)
	}
	heads := 0
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "#") {
			heads++
		}
		for _, mark := range []string{"```", "---", "<", "\x1b"} {
			if strings.HasPrefix(line, mark) || strings.Contains(line, "<script") || strings.Contains(line, "](") && !strings.Contains(line, `]\(`) {
				t.Errorf("%q is markup", line)
			}
		}
	}
	if heads != 1 || !strings.Contains(b.String(), "- plain\n") {
		t.Errorf("%d headings in\n%s", heads, b.String())
	}
}

// TestMarkdownEndsAtTheFirstError: nothing more is asked for once what is exported cannot be written.
func TestMarkdownEndsAtTheFirstError(t *testing.T) {
	t.Parallel()
	r, closed := io.Pipe()
	r.Close()
	w := bufio.NewWriterSize(closed, 16)
	if err := writeMarkdown(w, api.Row{Kind: "observation", Title: "a title"}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}
