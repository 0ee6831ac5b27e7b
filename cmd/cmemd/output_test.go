package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

func testApp() (a *app, out, errOut *bytes.Buffer) {
	out, errOut = new(bytes.Buffer), new(bytes.Buffer)
	return &app{out: out, err: errOut, getenv: func(string) string { return "" }, version: "test"}, out, errOut
}

func TestPrintPlain(t *testing.T) {
	t.Parallel()
	a, out, _ := testApp()
	l := list{head: []string{"ID", "TITLE", "LAST"}}
	l.add("1", "two\nlines\tand \x1b[31mred", "")
	l.add("22", "größer", "x")
	if err := a.print(l); err != nil {
		t.Fatal(err)
	}
	want := "ID  TITLE                      LAST\n1   two lines and \\x1b[31mred\n22  größer                     x\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out, want)
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	a, out, _ := testApp()
	a.field("empty", " \n")
	a.field("title", "one\x00line")
	a.field("text", "two\nlines\n")
	if want := "title         one\\x00line\ntext\n  two\n  lines\n"; out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_234_567: "1.2 MB", 5e9: "5.0 GB", 7e15: "7000.0 TB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

// FuzzPrintJSON holds any text to: the same text back, and no character on the way that deceives a terminal.
func FuzzPrintJSON(f *testing.F) {
	for _, s := range []string{"", "a\u202eb", "\u009b31m", "\U000e0041", "\x1b[31m", "<&>", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "\ufffd")
		a, out, _ := testApp()
		if err := a.printJSONLine(map[string]string{s: s}); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(out.String(), "\n")
		if strings.ContainsFunc(text, deceives) {
			t.Fatalf("%q is printed as %q", s, text)
		}
		var back map[string]string
		if err := json.Unmarshal([]byte(text), &back); err != nil || back[s] != s {
			t.Fatalf("%q is printed as %q and read as %q (%v)", s, text, back, err)
		}
	})
}

func TestExitCodesAndNextSteps(t *testing.T) {
	t.Parallel()
	busy := &api.Problem{Type: api.ProblemBusy, Title: "Too much is waiting", Status: 503}
	for _, c := range []struct {
		name    string
		err     error
		code    int
		message string
		next    string
	}{
		{"usage", &usageError{message: "cmemd why needs an id", command: "cmemd why"}, 2, "cmemd why needs an id", "`cmemd why --help` shows how it is called"},
		{"not running", fmt.Errorf("%w (%w)", api.ErrNotRunning, fs.ErrNotExist), 3, "cmemd is not running", "start it with `cmemd start`"},
		{"nothing", fmt.Errorf("%w for %q", errNothing, "x"), 4, `nothing found for "x"`, ""},
		{"not found", &api.Problem{Type: api.ProblemNotFound, Detail: "no such row", Status: 404}, 4, "no such row (404)", ""},
		{"busy", busy, 1, "Too much is waiting (503)", "try again in 1s"},
		{"ambiguous", &api.Problem{Type: api.ProblemAmbiguous, Detail: "several", Status: 409}, 1, "several (409)", "give more of the id"},
		{"locked", &eventlog.LockedError{Path: "/h/log.db", PID: 12, Command: "cmemd"}, 1, "/h/log.db is held by process 12 (cmemd)", "stop it with `cmemd stop`"},
		{"newer", &eventlog.NewerFormatError{Path: "/h/log.db", Found: 2, Known: 1}, 1, "has format 2", "changed nothing"},
		{"corrupt", &eventlog.CorruptError{Position: 3, Reason: "bad"}, 1, "corrupt at position 3: bad", "backup"},
		{"advice", advise(errors.New("no"), "do %s", "so"), 1, "no", "do so"},
		{"captured text", errors.New("bad \x1b[31mline"), 1, `bad \x1b[31mline`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, out, errOut := testApp()
			a.complain(c.err)
			got := errOut.String()
			if !strings.HasPrefix(got, "cmemd: "+c.message) && !strings.Contains(got, c.message) || !strings.Contains(got, c.next) {
				t.Errorf("got %q, want %q and %q", got, c.message, c.next)
			}
			if c.next == "" && strings.Contains(got, "next:") {
				t.Errorf("got advice nobody can use: %q", got)
			}
			if code := exitCode(c.err); code != c.code || out.Len() > 0 {
				t.Errorf("exit code %d, want %d; on standard output: %q", code, c.code, out)
			}
			a.json = true
			errOut.Reset()
			a.complain(c.err)
			var doc struct {
				Error, Next string
				Exit        int
			}
			if err := json.Unmarshal(errOut.Bytes(), &doc); err != nil || doc.Exit != c.code || !strings.Contains(doc.Error, c.message) {
				t.Errorf("as JSON: %q (%v)", errOut, err)
			}
		})
	}
	if exitCode(nil) != exitOK {
		t.Error("no error is no success")
	}
}

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
	a, _, _ := testApp()
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

func TestParseRange(t *testing.T) {
	t.Parallel()
	const end = 1<<64 - 1
	for text, want := range map[string][2]events.Position{"": {1, end}, "7": {7, end}, "7-": {7, end}, "7-9": {7, 9}, "7-7": {7, 7}} {
		from, to, ok := parseRange(text)
		if got := [2]events.Position{from, to}; !ok || got != want {
			t.Errorf("parseRange(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, bad := range []string{"0", "-", "-3", "x", "9-7", "1-2-3", "1 - 2", "99999999999999999999"} {
		if from, to, ok := parseRange(bad); ok {
			t.Errorf("parseRange(%q) = %d, %d", bad, from, to)
		}
	}
}

func TestTitleOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row  api.Row
		want string
	}{
		{api.Row{Kind: "observation", Title: "t", Narrative: "n"}, "t"},
		{api.Row{Kind: "observation", Facts: []string{"a", "b"}}, "a; b"},
		{api.Row{Kind: "summary", Completed: "done\nand more"}, "done"},
		{api.Row{Kind: "prompt", Prompt: 3}, "prompt 3"},
		{api.Row{Kind: "memory", Text: "\n\nfirst line\nsecond"}, "first line"},
		{api.Row{Kind: "memory"}, "memory"},
		{api.Row{Forgotten: true}, "forgotten"},
	} {
		if got := titleOf(c.row); got != c.want {
			t.Errorf("titleOf(%+v) = %q, want %q", c.row, got, c.want)
		}
	}
}

// TestShowRowShowsEveryField fails when a row gets a field that nobody sees.
func TestShowRowShowsEveryField(t *testing.T) {
	t.Parallel()
	hidden := map[string]bool{ // kept for programs: --json has them
		"ProjectRoot": true, "Prompt": true, "Turn": true, "Turns": true, "AgentSession": true, "Flagged": true,
	}
	row := reflect.TypeFor[api.Row]()
	for i := range row.NumField() {
		f := row.Field(i)
		if hidden[f.Name] || f.Type.Kind() != reflect.String && f.Type != reflect.TypeFor[[]string]() {
			continue
		}
		r := api.Row{Kind: "observation", Type: "discovery"}
		v := reflect.ValueOf(&r).Elem().Field(i)
		if f.Type.Kind() == reflect.String {
			v.SetString("MARK")
		} else {
			v.Set(reflect.ValueOf([]string{"MARK"}))
		}
		if f.Name == "Agent" {
			r.Session = events.SessionIDOf("a", "b")
		}
		a, out, _ := testApp()
		showRow(a, r)
		if !strings.Contains(out.String(), "MARK") {
			t.Errorf("%s is not shown:\n%s", f.Name, out)
		}
	}
}

func TestWidths(t *testing.T) {
	t.Parallel()
	l := list{head: []string{"SESSION", "AGENT", "PENDING", "TITLE"}}
	l.add("9b308e8d-0f3c", "claude-code", "3", strings.Repeat("x", 70))
	l.add("9b308e8d-0f3d", "codex", "12", "größer")
	for total, want := range map[int][]int{
		200: {13, 11, 7, 70}, // all fits
		80:  {13, 11, 7, 43}, // the title gives room
		48:  {13, 11, 7, 11},
		46:  {13, 10, 7, 10}, // then those that are as wide
		30:  {13, 5, 7, 5},   // no heading is cut, nor what names the row
	} {
		if got := l.widths(total); !slices.Equal(got, want) {
			t.Errorf("%d columns: got %v, want %v", total, got, want)
		}
	}
}

func TestPrintFitted(t *testing.T) {
	t.Parallel()
	a, out, _ := testApp()
	l := list{head: []string{"SESSION", "PENDING", "TITLE"}}
	l.add("9b308e8d-0f3c", "3", strings.Repeat("long ", 20))
	if err := a.printFitted(l, 40); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if w := lipgloss.Width(strings.TrimSuffix(line, "\n")); w > 40 {
			t.Errorf("%d columns wide: %q", w, line)
		}
	}
	if got := strings.Fields(out.String()); len(got) < 6 || !slices.Equal(got[:3], l.head) || got[3] != "9b308e8d-0f3c" || got[4] != "3" ||
		!strings.Contains(out.String(), "…") {
		t.Errorf("got\n%s", out)
	}
}

func TestWantsJSON(t *testing.T) {
	t.Parallel()
	usage := &usageError{message: "unknown flag: --nope"}
	for _, c := range []struct {
		err  error
		args []string
		want bool
	}{
		{usage, []string{"search", "--nope", "--json"}, true},
		{usage, []string{"--json=true", "search"}, true},
		{usage, []string{"search", "--nope"}, false},
		{usage, []string{"search", "--nope", "--", "--json"}, false},
		{errors.New("x"), []string{"save", "--title", "--json", "x"}, false},
		{nil, []string{"--json"}, false},
	} {
		if got := wantsJSON(c.err, c.args); got != c.want {
			t.Errorf("%v, %q: got %v", c.err, c.args, got)
		}
	}
}

func TestParseAsOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	for _, c := range []struct {
		text     string
		position events.Position
		at       time.Time
		ok       bool
	}{
		{"", 0, time.Time{}, true},
		{"17", 17, time.Time{}, true},
		{"3d", 0, now.Add(-72 * time.Hour), true},
		{"2026-02-01", 0, time.Date(2026, 2, 1, 0, 0, 0, 0, time.Local), true},
		{"2026-02-01T10:00:00Z", 0, time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC), true},
		{"-1", 0, time.Time{}, false},
		{"soon", 0, time.Time{}, false},
		{"99999999999999999999", 0, time.Time{}, false},
	} {
		p, at, err := parseAsOf(&cobra.Command{Use: "search"}, c.text, now)
		if (err == nil) != c.ok || c.ok && (p != c.position || !at.Equal(c.at)) {
			t.Errorf("%q: got %d, %v, %v", c.text, p, at, err)
		}
		if err != nil && exitCode(err) != exitUsage {
			t.Errorf("%q: exit code %d", c.text, exitCode(err))
		}
	}
}
