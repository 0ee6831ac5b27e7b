package server

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/capture"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/socket"
)

// contextOf is the memory in what a hook was answered, its fence included.
func contextOf(tb testing.TB, reply []byte) string {
	tb.Helper()
	if len(reply) == 0 {
		return ""
	}
	var r struct {
		Output struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(reply, &r); err != nil {
		tb.Fatalf("reply %q: %v", reply, err)
	}
	return r.Output.Context
}

// start begins a session and returns the memory that it is given.
func (w *world) start(tb testing.TB, session, source string) string {
	tb.Helper()
	reply, err := w.client.Hook(tb.Context(), "claude-code", hook("SessionStart", session, map[string]any{"source": source}), newID(), time.Time{})
	if err != nil {
		tb.Fatal(err)
	}
	return contextOf(tb, reply)
}

func unfenced(text string) string {
	text = strings.TrimPrefix(text, agents.ContextOpen+"\n")
	return strings.TrimSuffix(text, agents.ContextClose)
}

// repeats are the ways in which sessions repeat what they were given.
func repeats() []func(lines []string) string {
	each := func(f func(n int, l string) string) func([]string) string {
		return func(lines []string) string {
			var out []string
			for n, l := range lines {
				out = append(out, f(n, l))
			}
			return strings.Join(out, "\n")
		}
	}
	return []func([]string) string{
		each(func(_ int, l string) string { return l }),
		each(func(_ int, l string) string { return "> " + l }),
		each(func(_ int, l string) string { return "      " + l }),
		each(func(n int, l string) string { return fmt.Sprintf("%5d→%s", n+1, l) }),
		func(lines []string) string {
			lines = slices.Clone(lines)
			rand.New(rand.NewPCG(3, 4)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			return strings.Join(lines, "\n")
		},
		func(lines []string) string {
			raw, _ := json.Marshal(map[string]any{"type": "attachment", "content": strings.Join(lines, "\n")})
			return string(raw)
		},
		each(func(n int, l string) string { return fmt.Sprintf("docs/notes.md:%d:%s", n+1, l) }),
		each(func(n int, l string) string { return fmt.Sprintf("| %d | %s | yes |", n+1, l) }),
		func(lines []string) string { return strings.Join(lines, " ") },
		func(lines []string) string {
			inner, _ := json.Marshal([]string{strings.Join(lines, "\n")})
			raw, _ := json.Marshal(map[string]any{"stdout": string(inner), "stderr": ""})
			return string(raw)
		},
	}
}

// tenSessions plays ten sessions that each do the same piece of work, and repeat what echo makes of what they were given:
// at the prompt, in a tool's output, in a file they write, in their last words, and in their own summary.
func tenSessions(t *testing.T, echo func(n int, given string) string) *world {
	t.Helper()
	w := newWorld(t, nil)
	for n := range 10 {
		name := fmt.Sprint("s", n)
		given := w.start(t, name, "startup")
		if (given == "") != (n == 0) {
			t.Fatalf("session %d was given %q", n, given)
		}
		again := echo(n, unfenced(given))
		if again != "" {
			again += "\n"
		}
		w.post(t,
			hook("UserPromptSubmit", name, map[string]any{"prompt": fmt.Sprintf("%sMake the carousel number %d turn", again, n), "prompt_id": name}),
			editUse(name, newID().String(), fmt.Sprintf("/src/shop/carousel%d.go", n)),
			toolUse(name, newID().String(), "go test ./carousel", again+"ok  shop/carousel 0.1s\n"),
			hook("PostToolUse", name, map[string]any{
				"tool_name": "Write", "tool_use_id": newID().String(),
				"tool_input":    map[string]any{"file_path": "/src/shop/NOTES.md", "content": again + "Carousels turn.\n"},
				"tool_response": map[string]any{"filePath": "/src/shop/NOTES.md"},
			}),
			hook("PostCompact", name, map[string]any{"compact_summary": "<summary>" + again + fmt.Sprintf("The carousel %d turns.</summary>", n), "trigger": "auto", "prompt_id": name}),
			hook("Stop", name, map[string]any{"last_assistant_message": again + fmt.Sprintf("The carousel number %d turns now.", n), "prompt_id": name}),
		)
		w.settled(t)
	}
	return w
}

// remembered are the words of all rows, as people see them.
func (w *world) remembered(tb testing.TB) []string {
	tb.Helper()
	rows, err := w.views.Recent(tb.Context(), rows.RecentFilter{Limit: 1000})
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		out = append(out, strings.Join(slices.Concat([]string{
			string(r.Kind), r.Type, r.Title, r.Subtitle, r.Narrative, r.Text, r.Request, r.Investigated, r.Learned, r.Completed, r.NextSteps, r.Notes,
		}, r.Facts, r.Concepts, r.FilesModified, r.FilesRead), "|"))
	}
	slices.Sort(out)
	return out
}

// What ten sessions repeat of their context adds nothing to memory: it is the same as if they had not repeated it.
func TestMemoryDoesNotFeedOnItself(t *testing.T) {
	t.Parallel()
	silent := tenSessions(t, func(int, string) string { return "" })
	ways := repeats()
	echoing := tenSessions(t, func(n int, given string) string {
		return ways[n%len(ways)](strings.Split(strings.TrimSpace(given), "\n"))
	})
	if diff := cmp.Diff(trimmed(silent.remembered(t)), trimmed(echoing.remembered(t))); diff != "" {
		t.Errorf("memory grew by what was repeated: -silent +echoing\n%s", diff)
	}
	for _, r := range echoing.records(t) {
		e, err := r.Event()
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%+v", e); r.Kind != events.KindSessionOpened && strings.Contains(text, agents.ContextNotice) {
			t.Errorf("%d %s holds what was injected: %.300s", r.Position, r.Kind, text)
		}
	}
}

// trimmed drops the blank lines that cut lines leave.
func trimmed(rows []string) []string {
	for i, r := range rows {
		rows[i] = strings.Join(strings.Fields(r), " ")
	}
	return rows
}

// Every line of an injected text is known, from the text and, after a restart, from the rows alone.
func TestInjectedLinesAreKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "a", "Fix the flaky checkout test", "/src/shop/cart.go")
	w.settled(t)
	if _, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: "shop", ProjectRoot: "/src/shop", Text: "Never deploy on a Friday, or else"}); err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	given := w.start(t, "b", "startup")
	id := events.SessionIDOf("claude-code", "b")
	w.settled(t)
	lines, err := w.server.sources.Recall.InjectedLines(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	said := events.AgentStopped{LastMessage: unfenced(given)}
	byRows, _ := (*agents.InjectedText)(nil).With(lines...).Cut(said)
	for name, left := range map[string]string{
		"the text": w.repeated(t, w.capture, "b", said.LastMessage), "the rows": byRows.(events.AgentStopped).LastMessage,
	} {
		for line := range strings.Lines(left) {
			if strings.TrimSpace(line) != "" {
				t.Errorf("known from %s alone, this is left: %q", name, line)
			}
		}
		if cut := strings.Count(said.LastMessage, "\n") - strings.Count(left, "\n"); cut < 5 {
			t.Errorf("known from %s alone, %d lines are cut of\n%s", name, cut, given)
		}
	}
}

// repeated is what is recorded of an answer in which a session repeats what it was given.
func (w *world) repeated(tb testing.TB, p *capture.Pipeline, session, said string) string {
	tb.Helper()
	body := hook("Stop", session, map[string]any{"last_assistant_message": said, "prompt_id": newID().String()})
	got, err := p.Post(tb.Context(), capture.Posted{Agent: "claude-code", Came: time.Now(), Body: body})
	if err != nil {
		tb.Fatal(err)
	}
	for _, c := range got.Report.Captures {
		if stopped, ok := c.Event.(events.AgentStopped); ok {
			return stopped.LastMessage
		}
	}
	return ""
}

// A restart, and another session, know what was given too.
func TestEchoesAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "earlier", "Round the totals of a cart once", "/src/shop/total.go")
	w.settled(t)
	w.work(t, "a", "Fix the flaky checkout test", "/src/shop/cart.go")
	w.settled(t)
	given := w.start(t, "b", "startup")
	w.settled(t)
	row := ""
	for line := range strings.Lines(given) {
		if strings.HasPrefix(line, "- m") {
			row = strings.TrimSpace(line)
		}
	}
	if row == "" {
		t.Fatalf("no row in\n%s", given)
	}
	fresh, err := newServer(w.config()) // knows nothing of what was given
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"b", "somebody-else"} {
		if got := w.repeated(t, fresh.hooks.capture, session, row+"\nIt works."); got != "It works." {
			t.Errorf("session %s: %q is left", session, got)
		}
	}
	other := "- m999999 09:04 bugfix: nobody's row\nIt works."
	if got := w.repeated(t, fresh.hooks.capture, "b", other); got != other {
		t.Errorf("a line of no row: %q", got)
	}
}

// A transcript repeats the context as hooks do.
func TestTranscriptsRepeatToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "a", "Fix the flaky checkout test", "/src/shop/cart.go")
	w.settled(t)
	given := unfenced(w.start(t, "b", "startup"))
	line := func(kind, uuid, role, text string) string {
		b, err := json.Marshal(map[string]any{
			"type": kind, "uuid": uuid, "sessionId": "c", "cwd": "/src/shop", "timestamp": "2026-03-01T10:00:00Z", "promptId": uuid,
			"message": map[string]any{"role": role, "content": text, "model": "m"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	body := line("user", "u1", "user", given) + line("user", "u2", "user", given+"\nGo on") + line("assistant", "a1", "assistant", given+"\nDone.")
	in, err := w.client.Ingest(t.Context(), "claude-code", "/t/c.jsonl", strings.NewReader(body))
	if err != nil || in.Skipped["repeated memory"] != 1 {
		t.Fatalf("got %+v, %v", in, err)
	}
	for _, r := range w.records(t) {
		switch e, _ := r.Event(); e := e.(type) {
		case events.PromptSubmitted:
			if strings.Contains(e.Text, "earlier work on") || r.Stream == events.SessionIDOf("claude-code", "c").Stream() && strings.TrimSpace(e.Text) != "Go on" {
				t.Errorf("prompt %q", e.Text)
			}
		case events.AgentStopped:
			if strings.Contains(e.LastMessage, "earlier work on") {
				t.Errorf("last words %q", e.LastMessage)
			}
		}
	}
}

// At a prompt, and before a file is read, memory is given where that is wished for, once, and put on record.
func TestBriefs(t *testing.T) {
	t.Parallel()
	dir := socket.Dir(t)
	file := filepath.Join(dir, "discount.go")
	capturetest.WriteFile(t, file, []byte(strings.Repeat("// computeDiscount rounds half up\n", 100)))
	small := filepath.Join(dir, "small.go")
	capturetest.WriteFile(t, small, []byte("package shop\n"))
	prompt := func(session string) []byte {
		return hook("UserPromptSubmit", session, map[string]any{"cwd": dir, "prompt": "Why does discount.go round computeDiscount twice?", "prompt_id": newID().String()})
	}
	read := func(session, file string, more ...string) []byte {
		fields := map[string]any{"cwd": dir, "tool_name": "Read", "tool_input": map[string]any{"file_path": file}, "tool_use_id": newID().String()}
		for _, agent := range more {
			fields["agent_id"] = agent
		}
		return hook("PreToolUse", session, fields)
	}
	for _, c := range []struct {
		name   string
		briefs Briefs
		want   map[string]bool
	}{
		{"off", Briefs{}, nil},
		{"prompts", Briefs{Prompts: true, Timeout: 10 * time.Second}, map[string]bool{"prompt": true}},
		{"files", Briefs{Files: true, Timeout: 10 * time.Second}, map[string]bool{"file": true}},
		{"a score nobody has", Briefs{Prompts: true, Score: 50, Timeout: 10 * time.Second}, nil},
	} {
		w := newWorld(t, func(cfg *testConfig) { cfg.Briefs = c.briefs })
		w.post(t,
			hook("UserPromptSubmit", "a", map[string]any{"cwd": dir, "prompt": "Make computeDiscount round", "prompt_id": "p"}),
			hook("PostToolUse", "a", map[string]any{
				"cwd": dir, "tool_name": "Edit", "tool_use_id": "e",
				"tool_input":    map[string]any{"file_path": file, "old_string": "computeDiscount floor", "new_string": "computeDiscount rounds half up"},
				"tool_response": map[string]any{"filePath": file},
			}),
			hook("Stop", "a", map[string]any{"cwd": dir, "last_assistant_message": "computeDiscount in discount.go rounds half up now.", "prompt_id": "p"}),
		)
		w.settled(t)
		ask := func(payload []byte) string {
			reply, err := w.client.Hook(t.Context(), "claude-code", payload, newID(), time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			return contextOf(t, reply)
		}
		for hookName, payload := range map[string]func(string) []byte{"prompt": prompt, "file": func(s string) []byte { return read(s, file) }} {
			first, second := ask(payload("new-"+hookName)), ask(payload("new-"+hookName))
			if (first != "") != c.want[hookName] || second != "" {
				t.Errorf("%s: at a %s, given first %q and then %q", c.name, hookName, first, second)
			}
			if first != "" && (!strings.Contains(first, "computeDiscount") || !strings.HasPrefix(first, agents.ContextOpen) || len(first) > 2200) {
				t.Errorf("%s: given %q", c.name, first)
			}
		}
		for name, payload := range map[string][]byte{
			"a small file": read("x", small), "no file": read("x", filepath.Join(dir, "none.go")), "a subagent": read("x", file, "sub"),
			"its own session": read("a", file),
		} {
			if got := ask(payload); got != "" {
				t.Errorf("%s: %s: given %q", c.name, name, got)
			}
		}
		if got := w.count(t, events.KindContextInjected); got != len(c.want) {
			t.Errorf("%s: %d injections on record, want %d", c.name, got, len(c.want))
		}
		w.end()
	}
}

// What was said of a file before it changed is not given.
func TestChangedFilesAreRead(t *testing.T) {
	t.Parallel()
	dir := socket.Dir(t)
	file := filepath.Join(dir, "cart.go")
	capturetest.WriteFile(t, file, []byte(strings.Repeat("// cart\n", 400)))
	w := newWorld(t, func(cfg *testConfig) { cfg.Briefs = Briefs{Files: true, Timeout: 10 * time.Second} })
	w.post(t,
		hook("PostToolUse", "a", map[string]any{
			"cwd": dir, "tool_name": "Edit", "tool_use_id": "e",
			"tool_input":    map[string]any{"file_path": file, "old_string": "a", "new_string": "b"},
			"tool_response": map[string]any{"filePath": file},
		}),
		hook("Stop", "a", map[string]any{"cwd": dir, "last_assistant_message": "The cart is fixed.", "prompt_id": "p"}),
	)
	w.settled(t)
	ask := api.ContextQuery{Cwd: dir, File: file, Explain: true}
	if got, err := api.ContextRoute.Call(t.Context(), w.client, ask); err != nil || got.Text == "" {
		t.Fatalf("before: %+v, %v", got, err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(file, later, later); err != nil {
		t.Fatal(err)
	}
	got, err := api.ContextRoute.Call(t.Context(), w.client, ask)
	if err != nil || got.Text != "" || len(got.Explain) == 0 || got.Explain[0].Why != "the file was changed since" {
		t.Errorf("after: %+v, %v", got, err)
	}
}
