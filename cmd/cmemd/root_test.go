package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// TestEveryCommandHasAScript holds the tree to: each command says what it is, and some script runs it.
func TestEveryCommandHasAScript(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var scripts strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(b)
	}
	a, _, _ := clitest.App()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" {
			t.Errorf("%s says nothing of itself", c.CommandPath())
		}
		if !c.HasSubCommands() && c.Runnable() && !strings.Contains(scripts.String(), c.CommandPath()) {
			t.Errorf("no script runs %s", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(a))
}

// TestEmptyIsNotLeftOut: what a script gives empty, as a variable that is not set, is refused where leaving it out would choose more, another
// home or nothing that was named.
func TestEmptyIsNotLeftOut(t *testing.T) {
	t.Parallel()
	for _, line := range [][]string{
		{"correct", "", "text"}, {"correct", " ", "text"}, {"why", ""}, {"undo", " "}, {"confirm", ""}, {"show", "m1", ""}, {"sessions", ""},
		{"forget", "--session", "", "--since", "1h", "--yes"}, {"forget", "--query", "x", "--project=", "--yes"}, {"forget", "--approve", ""},
		{"reobserve", "--dropped", "--session", ""}, {"export", "--project", ""}, {"export", "--kind", ""}, {"export", "--kind", "summary, "}, {"--home", "", "status"}, {"status", "--home="},
	} {
		a, _, _ := clitest.App()
		a.Now = time.Now
		root := newRoot(a)
		root.SetArgs(line)
		err := root.ExecuteContext(t.Context())
		if terminal.ExitCode(err) != terminal.ExitUsage || !strings.Contains(err.Error(), "empty") {
			t.Errorf("%q: got %v", line, err)
		}
	}
}

// TestCompletionOfNoShell: a shell that is not known is refused, as is any command that there is not, and what stands behind one.
func TestCompletionOfNoShell(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"completion", "csh"}, {"completion", "zsh", "extra"}} {
		a, out, _ := clitest.App()
		root := newRoot(a)
		root.SetOut(out)
		root.SetArgs(args)
		if err := root.ExecuteContext(t.Context()); terminal.ExitCode(err) != terminal.ExitUsage || out.Len() > 0 {
			t.Errorf("%q: got %v, and %q", args, err, out)
		}
	}
}
