package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rivo/uniseg"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/api"
)

func newApp() (a *App, out, errOut *bytes.Buffer) {
	out, errOut = new(bytes.Buffer), new(bytes.Buffer)
	return &App{Out: out, Err: errOut, Getenv: func(string) string { return "" }, Version: "test"}, out, errOut
}

func TestPrintPlain(t *testing.T) {
	t.Parallel()
	a, out, _ := newApp()
	l := List{Head: []string{"ID", "TITLE", "LAST"}}
	l.Add("1", "two\nlines\tand \x1b[31mred", "")
	l.Add("22", "größer", "x")
	a.Print(l)
	if err := a.WriteErr(); err != nil {
		t.Fatal(err)
	}
	want := "ID  TITLE                      LAST\n1   two lines and \\x1b[31mred\n22  größer                     x\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out, want)
	}
}

func TestField(t *testing.T) {
	t.Parallel()
	a, out, _ := newApp()
	a.Field("empty", " \n")
	a.Field("title", "one\x00line")
	a.Field("text", "two\nlines\n")
	if want := "title         one\\x00line\ntext\n  two\n  lines\n"; out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_234_567: "1.2 MB", 5e9: "5.0 GB", 7e15: "7000.0 TB"} {
		if got := Size(n); got != want {
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
		a, out, _ := newApp()
		if err := a.PrintJSONLine(map[string]string{s: s}); err != nil {
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
		{"usage", &UsageError{Message: "cmemd why needs an id", command: "cmemd why"}, 2, "cmemd why needs an id", "`cmemd why --help` shows how it is called"},
		{"not running", fmt.Errorf("%w (%w)", api.ErrNotRunning, fs.ErrNotExist), 3, "cmemd is not running", "start it with `cmemd start`"},
		{"nothing", fmt.Errorf("%w for %q", ErrNothing, "x"), 4, `nothing found for "x"`, ""},
		{"not found", &api.Problem{Type: api.ProblemNotFound, Detail: "no such row", Status: 404}, 4, "no such row (404)", ""},
		{"busy", busy, 1, "Too much is waiting (503)", "try again in 1s"},
		{"ambiguous", &api.Problem{Type: api.ProblemAmbiguous, Detail: "several", Status: 409}, 1, "several (409)", "give more of the id"},
		{"locked", &eventlog.LockedError{Path: "/h/log.db", PID: 12, Command: "cmemd"}, 1, "/h/log.db is held by process 12 (cmemd)", "stop it with `cmemd stop`"},
		{"newer", &eventlog.NewerFormatError{Path: "/h/log.db", Found: 2, Known: 1}, 1, "has format 2", "changed nothing"},
		{"corrupt", &eventlog.CorruptError{Position: 3, Reason: "bad"}, 1, "corrupt at position 3: bad", "backup"},
		{"advice", Advise(errors.New("no"), "do %s", "so"), 1, "no", "do so"},
		{"a path to nothing", &fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, 1, "open /x: no such file", "nothing is there"},
		{"a path of another", fmt.Errorf("x: %w", &fs.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}), 1, "permission denied", "rights"},
		{"a disk that is read-only", &fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EROFS}, 1, "mkdir /x: read-only", "mounted for writing"},
		{"a folder", &fs.PathError{Op: "read", Path: "/x", Err: syscall.EISDIR}, 1, "is a directory", "it needs a file where a folder is"},
		{"captured text", errors.New("bad \x1b[31mline"), 1, `bad \x1b[31mline`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, out, errOut := newApp()
			a.Complain(c.err)
			got := errOut.String()
			if !strings.HasPrefix(got, "cmemd: "+c.message) && !strings.Contains(got, c.message) || !strings.Contains(got, c.next) {
				t.Errorf("got %q, want %q and %q", got, c.message, c.next)
			}
			if c.next == "" && strings.Contains(got, "next:") {
				t.Errorf("got advice nobody can use: %q", got)
			}
			if code := ExitCode(c.err); code != c.code || out.Len() > 0 {
				t.Errorf("exit code %d, want %d; on standard output: %q", code, c.code, out)
			}
			a.JSON = true
			errOut.Reset()
			a.Complain(c.err)
			var doc struct {
				Error, Next string
				Exit        int
			}
			if err := json.Unmarshal(errOut.Bytes(), &doc); err != nil || doc.Exit != c.code || !strings.Contains(doc.Error, c.message) {
				t.Errorf("as JSON: %q (%v)", errOut, err)
			}
		})
	}
	if ExitCode(nil) != ExitOK {
		t.Error("no error is no success")
	}
}

func TestWidths(t *testing.T) {
	t.Parallel()
	l := List{Head: []string{"SESSION", "AGENT", "PENDING", "TITLE"}}
	l.Add("9b308e8d-0f3c", "claude-code", "3", strings.Repeat("x", 70))
	l.Add("9b308e8d-0f3d", "codex", "12", "größer")
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
	a, out, _ := newApp()
	l := List{Head: []string{"SESSION", "PENDING", "TITLE"}}
	l.Add("9b308e8d-0f3c", "3", strings.Repeat("long ", 20))
	if a.printFitted(l, 40); a.WriteErr() != nil {
		t.Fatal(a.WriteErr())
	}
	for line := range strings.Lines(out.String()) {
		if w := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); w > 40 {
			t.Errorf("%d columns wide: %q", w, line)
		}
	}
	if got := strings.Fields(out.String()); len(got) < 6 || !slices.Equal(got[:3], l.Head) || got[3] != "9b308e8d-0f3c" || got[4] != "3" ||
		!strings.Contains(out.String(), "…") {
		t.Errorf("got\n%s", out)
	}
}

// TestReport holds an answer with nothing in it to: one document with --json, whose reader is not told of it again.
func TestReport(t *testing.T) {
	t.Parallel()
	words := func(a *App) error {
		a.Printf("in words\n")
		return fmt.Errorf("%w: no rows", ErrNothing)
	}
	for want, json := range map[string]bool{"in words\n": false, "{\n  \"rows\": 0\n}\n": true} {
		a, out, errOut := newApp()
		a.JSON = json
		err := a.Report(map[string]int{"rows": 0}, words)
		a.Complain(err)
		if out.String() != want || !errors.Is(err, ErrNothing) || ExitCode(err) != ExitNothing || (errOut.Len() == 0) != json {
			t.Errorf("with JSON %v: %v, and printed %q and %q", json, err, out, errOut)
		}
	}
}

// TestUnwritten has standard output refuse what is printed.
func TestUnwritten(t *testing.T) {
	t.Parallel()
	a, _, _ := newApp()
	r, w := io.Pipe()
	r.Close()
	a.Out = w
	a.Print(List{Head: []string{"A"}, Rows: [][]string{{"1"}}})
	if !errors.Is(a.WriteErr(), io.ErrClosedPipe) {
		t.Errorf("got %v", a.WriteErr())
	}
}

func TestFitted(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":             "      ",
		"größer":       "größer",
		"too long.":    "too l…",
		"漢字漢字":         "漢字… ", // each is two columns wide
		"👩‍👧‍👦 family": "👩‍👧‍👦 fa…",
	} {
		if got := fitted(s, 6); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
