package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
)

// TestManPages: each command has a page, with its options, and troff reads it without a complaint.
func TestManPages(t *testing.T) {
	t.Parallel()
	a, _, _ := clitest.App()
	a.Version = "1.2.3"
	dir, root, texts := t.TempDir(), newRoot(a), map[string]string{}
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(path), ".1")] = string(text)
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
	c := exec.Command(groff, append([]string{"-man", "-Tutf8", "-ww", "-z"}, pages...)...) // what it says begins with a page's path
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
