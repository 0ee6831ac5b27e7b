package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestQuestion: a line is an answer, the end of the input is none, and an interrupt ends a wait that nothing else would, or outweighs a line
// that is there already.
func TestQuestion(t *testing.T) {
	t.Parallel()
	never, typing := io.Pipe()
	defer typing.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		in     io.Reader
		want   string
		fails  bool
		isOver bool
	}{
		"a line":                  {t.Context(), strings.NewReader(" y \nn\n"), "y", false, false},
		"a line without its end":  {t.Context(), strings.NewReader("y"), "y", false, false},
		"an empty line":           {t.Context(), strings.NewReader("\n"), "", false, false},
		"nothing":                 {t.Context(), strings.NewReader(""), "", true, false},
		"interrupted":             {over, never, "", true, true},
		"interrupted, and a line": {over, strings.NewReader("y\n"), "", true, true},
	} {
		var said strings.Builder
		a := &App{In: c.in, Err: &said}
		got, err := a.Question(c.ctx, "Do this?")
		if got != c.want || (err != nil) != c.fails || errors.Is(err, ErrInterrupted) != c.isOver {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if !strings.HasPrefix(said.String(), "Do this? ") || strings.HasSuffix(said.String(), "\n") != c.isOver {
			t.Errorf("%s: said %q", name, said.String())
		}
	}
}
