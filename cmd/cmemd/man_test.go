package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// TestManPages: each command has a page, with its options, and troff reads it without a complaint.
func TestManPages(t *testing.T) {
	t.Parallel()
	root := newRoot(&terminal.App{Version: "1.2.3"})
	root.InitDefaultCompletionCmd()
	pages := manPages(root, "1.2.3")
	texts := map[string]string{}
	for _, p := range pages {
		if texts[p.name] != "" {
			t.Errorf("%s is there twice", p.name)
		}
		texts[p.name] = p.text
	}
	for _, name := range []string{"cmemd", "cmemd-install", "cmemd-service-install", "cmemd-log-verify", "cmemd-exit-codes", "cmemd-completion-zsh"} {
		if texts[name] == "" {
			t.Errorf("there is no page %s", name)
		}
	}
	for _, want := range []string{".TH \"CMEMD-INSTALL\" 1 \"\" \"cmemd 1.2.3\" \"cmemd\"\n", `\-\-dry\-run`, "\\fBcmemd install [AGENT...] [flags]\\fR\n", "\\fBcmemd\\fR(1)"} {
		if !strings.Contains(texts["cmemd-install"], want) {
			t.Errorf("%q is not in\n%s", want, texts["cmemd-install"])
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed here")
	}
	for name, text := range texts {
		c := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
		c.Stdin = strings.NewReader(text)
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

func TestManEscaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a-b": `a\-b`, ".x\n'y\nz.": "\\&.x\n\\&'y\nz.", `a\n`: `a\en`, "": "",
	} {
		if got := manEscaped(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got, want := manProse("one\n\n  two\nthree"), "one\n.PP\n.nf\n  two\n.fi\nthree"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
