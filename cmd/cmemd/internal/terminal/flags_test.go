package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestFlagsTogether: flags that exclude each other, and a missing one of several, are a wrong command line.
func TestFlagsTogether(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--a": "", "--b --c": "", "--a --b": "--b does not go together with --a", "--b --a": "--b does not go together with --a",
		"": "x needs --a or --b", "--c": "x needs --a or --b",
	} {
		cmd := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { return nil }}
		for _, name := range []string{"a", "b", "c"} {
			cmd.Flags().Bool(name, false, "")
		}
		NotTogether(cmd, "a", "b")
		NeedsOne(cmd, "a", "b")
		cmd.SetArgs(strings.Fields(args))
		switch err := cmd.Execute(); {
		case want == "" && err != nil, want != "" && (err == nil || err.Error() != want || ExitCode(err) != ExitUsage):
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

// TestFlagsSayWhatTheyTake: what a flag does not take is refused before the command runs; of several the one whose
// check was added first says so.
func TestFlagsSayWhatTheyTake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, err string }{
		{"", ""}, {"--word a --list a,b --most 3 --when 2h", ""}, {"--word=", ""},
		{"--word c", `--word "c" is none of a, b`}, {"--list a,c", `--list "c" is none of a, b`},
		{"--most 4", "--most 4: it must be from 1 to 3"}, {"--most 0", "--most 0: it must be from 1 to 3"},
		{"--when never", `--when "never" is no time`},
		{"--most abc", `invalid argument "abc" for "--most" flag: it must be a whole number`},
		{"--most 99999999999999999999", `invalid argument "99999999999999999999" for "--most" flag: it is too large`},
		{"--json=maybe", `invalid argument "maybe" for "--json" flag: it must be true or false`},
		{"--when never --word c", `--word "c" is none of a, b`},
	} {
		a, _, _ := newApp()
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		a.Now = func() time.Time { return now }
		var at time.Time
		ran := false
		cmd := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { ran = true; return nil }}
		cmd.Flags().String("word", "", "")
		cmd.Flags().StringSlice("list", nil, "")
		cmd.Flags().Int("most", 1, "")
		cmd.Flags().Bool("json", false, "")
		cmd.SetFlagErrorFunc(MisusedFlag)
		OneOf(cmd, "word", "a", "b")
		OneOf(cmd, "list", "a", "b")
		UpTo(cmd, "most", 3)
		WhenFlag(a, cmd, &at, "when", "")
		cmd.SetArgs(strings.Fields(c.args))
		err := cmd.Execute()
		if ran != (c.err == "") || ran != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: ran %t, %v; want %q", c.args, ran, err, c.err)
		}
		if want := now.Add(-2 * time.Hour); strings.Contains(c.args, "2h") && !at.Equal(want) {
			t.Errorf("%s: got %s, want %s", c.args, at, want)
		}
	}
}
