package claudecli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// dying is how long what was killed may take to be gone, where the machine has much else to do. Left alone it would stay for
// an hour.
const dying = time.Minute

const answerSaid = initSaid + startSaid + deltaSaid + stopSaid + resultSaid

// TestAskStartsAChildOfItsOwn looks at all that the child is given.
func TestAskStartsAChildOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newFake(t, answerSaid)
	c := f.client(t, "ANTHROPIC_API_KEY=sk-login")
	q := question()
	q.User = "the batch <a> & \xff\x00 \u2028"
	r, err := c.Ask(t.Context(), q)
	want := observer.Reply{
		Text: events.NewOutput("hello"), Form: events.FormXML, StopReason: "end_turn",
		Bill: events.Bill{Model: "haiku", Usage: events.Usage{Input: 3, Output: 2}, Calls: 1},
	}
	if diff := cmp.Diff(want, r); diff != "" || err != nil {
		t.Fatalf("%v, -want +got:\n%s", err, diff)
	}
	got := f.asked(t)
	if all := strings.Join(got.Args, " "); strings.Contains(all, "batch") || strings.Contains(all, "brief") {
		t.Errorf("the arguments show the prompt: %q", got.Args)
	}
	if i := slices.Index(got.Args, "--system-prompt-file"); i < 0 || readFile(t, got.Args[i+1]) != q.System {
		t.Errorf("no system prompt in %q", got.Args)
	}
	if i := slices.Index(got.Args, "--tools"); i < 0 || got.Args[i+1] != "" {
		t.Errorf("tools in %q", got.Args)
	}
	var line userLine
	if err := json.Unmarshal([]byte(got.Stdin), &line); err != nil || strings.Count(got.Stdin, "\n") != 1 {
		t.Fatalf("%v: %q", err, got.Stdin)
	}
	if text := line.Message.Content[0].Text; text != "the batch <a> & \ufffd\x00 \u2028" || !strings.Contains(got.Stdin, "<a> &") {
		t.Errorf("read %q", text)
	}
	env := strings.Join(got.Env, "\n")
	if strings.Contains(env, "PATH=") || !strings.Contains(env, "sk-login") || !strings.Contains(env, Marker+"=") {
		t.Errorf("the environment holds %q", got.Env)
	}
	checkCwd(t, got.Cwd, f.dir)
	if left := runFiles(t, f.dir); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

// checkCwd: the child lives in a folder of ours that holds nothing.
func checkCwd(t *testing.T, cwd, dir string) {
	t.Helper()
	real, err := filepath.EvalSymlinks(filepath.Join(dir, "cwd"))
	if err != nil || cwd != real {
		t.Errorf("ran in %s, want %s", cwd, real)
	}
	if left, err := os.ReadDir(cwd); len(left) != 0 || err != nil {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// runFiles lists what is written down of runs.
func runFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.run"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAskTypesEveryEnd plays what can go wrong with a child.
func TestAskTypesEveryEnd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("signals")
	}
	for name, c := range map[string]struct{ script, want string }{
		"complains on the side":        {"!complain\n" + answerSaid, `"hello" by haiku`},
		"stays after its result":       {answerSaid + "!hang\n", `"hello" by haiku`},
		"stays, and is deaf":           {"!deaf\n" + answerSaid + "!hang\n", `"hello" by haiku`},
		"leaves a child behind":        {"!child\n" + answerSaid, `"hello" by haiku`},
		"does not know its arguments":  {"!complain\n!exit 1\n", "setup 0"},
		"is killed":                    {initSaid + "!kill\n", "crash: observer: crashed: the client was killed before its result"},
		"dies":                         {initSaid + startSaid + "!exit 7\n", "crash: observer: crashed: the client ended with status 7 before its result"},
		"talks without a line":         {initSaid + startSaid + deltaSaid + stopSaid + strings.Repeat("x", 1<<20) + "\n" + resultSaid, `"hello" by haiku`},
		"talks without end":            {initSaid + startSaid + "!chatter\n", "truncated 0 with 262144 bytes"},
		"goes on by itself, and hangs": {initSaid + startSaid + deltaSaid + `{"type":"user"}` + "\n!hang\n", "transport 0 with 5 bytes"},
		"goes on, deaf, with a child":  {"!deaf\n!child\n" + initSaid + startSaid + deltaSaid + `{"type":"user"}` + "\n!hang\n", "transport 0 with 5 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.script)
			began := time.Now()
			got := told(f.client(t).Ask(t.Context(), question()))
			if !strings.HasPrefix(got, c.want) || strings.Contains(got, "sk-ant") {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if took := time.Since(began); took > dying {
				t.Errorf("took %v", took)
			}
			mustBeGone(t, childRecord{PID: f.asked(t).PID}, dying)
			if left := runFiles(t, f.dir); len(left) != 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

func TestAskWithoutAClientIsSetup(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "claude")
	writeProgram(t, text, "not a program")
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), text} {
		c, err := New(Config{Dir: t.TempDir(), Path: path, Env: []string{"PATH="}})
		if err != nil {
			t.Fatal(err)
		}
		if got := told(c.Ask(t.Context(), question())); got != "setup 0" {
			t.Errorf("%s: got %s, want setup", path, got)
		}
		if _, err := c.Version(t.Context()); told(observer.Reply{}, err) != "setup 0" {
			t.Errorf("%s: version: got %v, want setup", path, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFake(t, answerSaid)
	f.dir = filepath.Join(file, "runs")
	if got := told(f.client(t).Ask(t.Context(), question())); got != "setup 0" {
		t.Errorf("no folder: got %s, want setup", got)
	}
}

// TestAskTakesLongPrompts: more than a pipe holds goes through standard input, read or not.
func TestAskTakesLongPrompts(t *testing.T) {
	t.Parallel()
	q := question()
	q.User = strings.Repeat("a batch of words ", 1<<19)
	f := newFake(t, answerSaid)
	if got := told(f.client(t).Ask(t.Context(), q)); !strings.HasPrefix(got, `"hello"`) {
		t.Error(got)
	}
	if n := f.asked(t).Length; n < len(q.User) {
		t.Errorf("the child read %d bytes of %d", n, len(q.User))
	}
	if runtime.GOOS == "windows" {
		return
	}
	script := filepath.Join(t.TempDir(), "claude")
	writeProgram(t, script, "#!/bin/sh\nexit 1\n")
	c, err := New(Config{Dir: t.TempDir(), Path: script})
	if err != nil {
		t.Fatal(err)
	}
	if got := told(c.Ask(t.Context(), q)); got != "setup 0" {
		t.Errorf("not read: got %s", got)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	f := newFake(t, "2.1.329 (Claude Code)\n")
	if v, err := f.client(t).Version(t.Context()); v != "2.1.329" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
	f.play(t, "hello\n")
	if v, err := f.client(t).Version(t.Context()); v != "" || told(observer.Reply{}, err) != "setup 0" {
		t.Errorf("got %q, %v", v, err)
	}
}

func TestAskHasOneForm(t *testing.T) {
	t.Parallel()
	f := newFake(t, "!exit 9\n")
	q := question()
	q.Form = events.FormStructured
	if _, err := f.client(t).Ask(t.Context(), q); !errors.Is(err, model.ErrForm) {
		t.Errorf("got %v, want %v", err, model.ErrForm)
	}
}

// TestAskEndsWithItsContext: at once, with all that the child has started, though none of it listens.
func TestAskEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"silent":              "!hang\n",
		"in the middle":       initSaid + startSaid + deltaSaid + "!hang\n",
		"deaf":                "!deaf\n" + initSaid + "!hang\n",
		"deaf, with children": "!deaf\n!child\n!child\n" + initSaid + "!hang\n",
		"loud":                initSaid + "!flood\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, script)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := f.client(t).Ask(ctx, question())
				ended <- err
			}()
			pid := f.asked(t).PID
			began := time.Now()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
			if took := time.Since(began); took > dying {
				t.Errorf("ended after %v", took)
			}
			mustBeGone(t, childRecord{PID: pid}, dying)
		})
	}
}

func TestAskStartsNothingWhenItIsTooLate(t *testing.T) {
	t.Parallel()
	f := newFake(t, answerSaid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.client(t).Ask(ctx, question()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(f.bin, "asked")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a child was started: %v", err)
	}
}
