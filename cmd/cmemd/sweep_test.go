package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/secrets"
)

// sweeper is a home into which secrets are brought by every door, and which is searched for them.
type sweeper struct {
	matrixWorld
	all []secrets.Secret
}

// TestSweep plants secrets of some forty kinds in hooks, prompts, transcripts, memories and what is refused, and plain words
// where nothing is recorded, with the daemon away, there and gone again, and looks through every file of the home, every
// record of the log, and what commands print and export.
func TestSweep(t *testing.T) {
	takesLong(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	t.Cleanup(cancel)
	w := sweeper{matrixWorld{program: newProgram(t), ctx: ctx, cwd: "/src/shop"}, secrets.Make(4711)}
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	followed, cwd := t.TempDir(), w.ignoringFolder()
	w.write(filepath.Join(w.home, config.FileName), []string{`log_level = "debug"`, `watch = ["claude-code=` + followed + `"]`})
	w.unsaid("unsaid, without a key", cwd)
	w.hookWithin("withheld", w.all[0].Text)
	w.search("the spool without a key", "bytes withheld")
	if err := spool.LayKey(w.home, time.Now()); err != nil {
		t.Fatal(err)
	}
	w.unsaid("unsaid, away", cwd)
	w.unshaped("unshaped, away")
	for _, s := range w.all {
		w.hookWithin("away", s.Text)
	}
	w.search("the spool", `{"v":2,"key":"`)
	daemon := w.serve(ctx)
	defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
	w.client = client.Dial(w.home)
	defer w.client.Close()
	w.awaitSpool()
	w.report("there")
	w.unsaid("unsaid, there", cwd)
	w.unshaped("unshaped, there")
	w.awaitSpool() // a daemon that answers too late for a hook finds it there
	if _, err := w.client.Ingest(ctx, "claude-code", "/t/unsaid.jsonl", strings.NewReader(unsaidTranscript("unsaid, read", cwd))); err != nil {
		t.Fatal(err)
	}
	w.follow(followed, cwd)
	w.await("what ended to be observed", func(st api.Status) bool { // all but the sessions that only began
		return st.Spool.Waiting == 0 && st.Inputs.Observed >= 7*len(w.all)
	})
	w.search("a running daemon's home", "[redacted:")
	w.commands()
	w.takenAway()
	if out, err := w.command(ctx, "stop").CombinedOutput(); err != nil {
		t.Fatalf("stop: %v\n%s", err, out)
	}
	w.recordsOf(homedir.PathsOf(w.home).Log)
	w.search("the home that is left", "[redacted:")
}

// awaitSpool waits until the spool is drained: an end of a session is refused before that.
func (w *sweeper) awaitSpool() {
	w.t.Helper()
	w.await("the spool to be drained", func(st api.Status) bool { return st.Spool.Waiting == 0 })
}

// payloads are what an agent reports of a session in which a text stands everywhere.
func payloads(session, text string) []map[string]any {
	use := func(more map[string]any) map[string]any {
		more["hook_event_name"], more["tool_use_id"] = "PostToolUse", fmt.Sprintf("%s-%p", session, more)
		return more
	}
	return []map[string]any{
		{"hook_event_name": "SessionStart", "source": "startup", "transcript_path": "/t/" + text},
		{"hook_event_name": "UserPromptSubmit", "prompt": "look at this:\n" + text, "prompt_id": "p"},
		use(map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "echo " + text}, "tool_response": map[string]any{"stdout": "a\n" + text + "\nb"}}),
		use(map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "/src/shop/.env", "content": text}, "tool_response": map[string]any{
			"filePath": "/src/shop/.env", "structuredPatch": []any{map[string]any{"lines": []string{"+" + text}}}, "originalFile": text,
		}}),
		use(map[string]any{"tool_name": "Edit", "tool_input": map[string]any{"file_path": "/src/shop/a.txt", "old_string": "a", "new_string": text}, "tool_response": map[string]any{
			"filePath": "/src/shop/a.txt", "structuredPatch": []any{map[string]any{"lines": patched(text)}}, "originalFile": text,
		}}),
		use(map[string]any{"tool_name": "mcp__x__y", "tool_input": map[string]any{"nested": quoted(map[string]any{"deep": text})}, "tool_response": text}),
		{"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": session + text[:4], "tool_input": map[string]any{"command": "x"}, "error": "exit 1\n" + text},
		{"hook_event_name": "SubagentStop", "agent_type": "Explore", "agent_id": "a1", "last_assistant_message": "I saw\n" + text},
		{"hook_event_name": "PostCompact", "compact_summary": "<summary>we used\n" + text + "\n</summary>", "trigger": "auto"},
		{"hook_event_name": "Stop", "last_assistant_message": "Done with\n" + text},
		{"hook_event_name": "SessionEnd", "reason": "other"},
	}
}

// patched is a text as the lines of a patch.
func patched(text string) []string {
	return strings.Split(" before\n+"+strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+")+"\n after", "\n")
}

func quoted(v any) string { return clitest.JSON(clitest.JSON(v)) }

// hookWithin has hooks report a session: each kind of place once.
func (w *sweeper) hookWithin(session, text string) {
	w.t.Helper()
	for _, p := range payloads(session, text)[1:5] {
		p["session_id"], p["cwd"] = session, "/src/shop/"+text
		w.runHookWithin([]byte(clitest.JSON(p)))
	}
}

// runHookWithin is runHook in this process, which is all that a process of its own does: each of some hundreds would take longer to start.
func (w *sweeper) runHookWithin(payload []byte) {
	w.t.Helper()
	cfg, ok := relay.FromEnv(relay.Call{Agent: "claude-code", Home: w.home}, "dev", func(string) string { return "" })
	if !ok {
		w.t.Fatal("no hook")
	}
	var said bytes.Buffer
	cfg.Stdin, cfg.Stdout, cfg.Start = bytes.NewReader(payload), &said, nil
	abandoned := func(r relay.Result) { w.t.Errorf("a hook was abandoned: %v", r.Err) }
	if r := relay.Run(w.ctx, cfg, abandoned); r.Outcome == relay.Lost {
		w.t.Fatalf("a hook: %s, %v", r.Outcome, r.Err)
	}
	w.check("a hook's reply", said.Bytes())
}

// unshaped reports what agents say of a dotenv file beside its contents: the text that was there before, and JSON in a string.
func (w *sweeper) unshaped(session string) {
	w.t.Helper()
	const path, word = "/src/shop/.env", wordOfDotenv
	for i, p := range []map[string]any{
		{"tool_name": "Edit", "tool_input": map[string]any{"file_path": path, "old_string": "a", "new_string": "b"}, "tool_response": map[string]any{"filePath": path, "originalFile": word}},
		{"tool_name": "Write", "tool_input": map[string]any{"file_path": path, "content": word}, "tool_response": map[string]any{"filePath": path, "content": word, "originalFile": word + "\n"}},
		{"tool_name": "Bash", "tool_input": map[string]any{"command": "tail -n +1 *"}, "tool_response": map[string]any{"stdout": "==> .env <==\nA=" + word}},
	} {
		p["hook_event_name"], p["session_id"], p["cwd"], p["tool_use_id"] = "PostToolUse", session, "/src/shop", fmt.Sprint(session, i)
		w.runHook([]byte(clitest.JSON(p)), i)
	}
	for i, input := range []map[string]any{{"path": path}, {"path": path, "data": word}} {
		w.runHookOf("cursor", []byte(clitest.JSON(map[string]any{
			"hook_event_name": "afterMCPExecution", "conversation_id": session, "generation_id": fmt.Sprint(i), "workspace_roots": []string{"/src/shop"}, "tool_name": "read_file",
			"tool_input": clitest.JSON(input), "result_json": clitest.JSON(map[string]any{"content": []any{map[string]any{"type": "text", "text": "A=" + word}}}),
		})), i)
	}
}

func (w *sweeper) runHook(payload []byte, i int) {
	w.t.Helper()
	w.runHookOf("claude-code", payload, i)
}

func (w *sweeper) runHookOf(agent string, payload []byte, i int) {
	w.t.Helper()
	c := w.command(w.ctx, "hook", agent)
	c.Stdin = bytes.NewReader(payload)
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s hook %d: %v %s", agent, i, err, out)
	}
	w.check("a hook's reply", out)
}

// report brings each secret to a daemon that runs: by hook, by transcript, as a memory, in a question, and in what it refuses.
func (w *sweeper) report(session string) {
	w.t.Helper()
	for i, s := range w.all {
		id := fmt.Sprint(session, i)
		for _, p := range payloads(id, s.Text) {
			event := p["hook_event_name"].(string)
			w.cwd = "/src/shop/" + s.Text
			w.hook(id, event, p)
		}
		lines := toldBy(fmt.Sprint("read", i), s.Text)
		if _, err := w.client.Ingest(w.ctx, "claude-code", "/t/"+s.Text+".jsonl", strings.NewReader(lines)); err != nil {
			w.t.Fatal(err)
		}
		if _, err := api.SaveRoute.Call(w.ctx, w.client, api.Memory{Project: "shop", Title: "of " + s.Text, Text: "remember\n" + s.Text, Files: []string{s.Text}, Concepts: []string{s.Text}}); err != nil {
			w.t.Fatal(err)
		}
		_, _ = api.SearchRoute.Call(w.ctx, w.client, api.SearchQuery{Text: s.Text, Project: s.Text}) // whatever it says
		bad := clitest.JSON(map[string]any{"hook_event_name": "Stop", "last_assistant_message": s.Text})
		w.runHookWithin([]byte(bad))                                  // names no session: it is put aside
		w.runHookWithin([]byte(strings.TrimSuffix(bad, `"}`) + "\n")) // is no JSON
		w.runHookWithin([]byte(`{"session_id":"x","cwd":` + bad))     // is no JSON either
	}
}

// toldBy is what an agent writes of a session in which a text stands everywhere.
func toldBy(session, text string) string {
	return fmt.Sprintf(`{"type":"user","sessionId":%[2]q,"cwd":%[3]s,"gitBranch":%[1]s,"uuid":"1","timestamp":"2025-01-02T03:04:05Z","message":{"content":%[1]s}}
{"type":"assistant","uuid":"2","timestamp":"2025-01-02T03:04:06Z","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":%[1]s}}]}}
{"type":"user","uuid":"3","timestamp":"2025-01-02T03:04:07Z","toolUseResult":{"structuredPatch":[{"lines":%[4]s}]},"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%[1]s}]}}
{"type":"nonsense",%[1]s}
`, clitest.JSON(text), session, clitest.JSON("/src/"+text), clitest.JSON(patched(text)))
}

// commands looks through what people are shown.
func (w *sweeper) commands() {
	w.t.Helper()
	for _, args := range [][]string{
		{"status", "--json"}, {"sessions", "--json"}, {"log", "cat", "--payload", "--json"}, {"outcomes", "--json"}, {"search", "--json", "redacted"}, {"context"},
		{"logs"}, {"doctor"}, {"watch"},
	} {
		out, _ := w.command(w.ctx, args...).CombinedOutput() // doctor may find something
		w.check("cmemd "+strings.Join(args, " "), out)
		if len(out) == 0 && args[0] != "context" {
			w.t.Errorf("%v printed nothing", args)
		}
	}
}

// recordsOf looks through a log as it is read: payloads in its file are compressed.
func (w *sweeper) recordsOf(path string) {
	w.t.Helper()
	log, err := eventlog.Open(path, eventlog.Config{Timeout: 5 * time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	w.decoded(filepath.Base(path), log.All(w.ctx, 1))
}

// decoded looks through records. What was said has to stand in them: else the words beside it were not brought there.
func (w *sweeper) decoded(where string, records iter.Seq2[events.Record, error]) {
	w.t.Helper()
	n, said := 0, 0
	for r, err := range records {
		if err != nil {
			w.t.Fatal(err)
		}
		e, err := r.Event()
		if err != nil {
			w.t.Fatal(err)
		}
		text := clitest.JSON(e)
		w.check(fmt.Sprintf("%s: record %d, %s", where, r.Position, r.Kind), []byte(text))
		n++
		if strings.Contains(text, wordSaid) {
			said++
		}
	}
	if n < 10*len(w.all) || said < 8 {
		w.t.Errorf("%s has %d records, %d of what was said", where, n, said)
	}
}

func (w *sweeper) search(what, sign string) {
	w.t.Helper()
	w.searchIn(what, w.home, sign)
}

// searchIn looks through every file below a folder. Sign has to stand somewhere: else nothing was written at all.
func (w *sweeper) searchIn(what, dir, sign string) {
	w.t.Helper()
	signed, files := false, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		w.check(what+": the name "+d.Name(), []byte(d.Name()))
		if err != nil || !d.Type().IsRegular() {
			return goneIsFine(err)
		}
		b, err := os.ReadFile(path)
		signed = signed || bytes.Contains(b, []byte(sign))
		files++
		w.check(what+": "+strings.TrimPrefix(path, dir), b)
		return goneIsFine(err)
	})
	if err != nil || !signed || files == 0 {
		w.t.Errorf("%s: %d files, signed %v, %v", what, files, signed, err)
	}
}

// check looks for each secret, and for each word that stood where nothing is recorded.
func (w *sweeper) check(where string, b []byte) {
	w.t.Helper()
	for _, found := range foundIn(b, w.all) {
		w.t.Errorf("%s holds %s", where, found)
	}
}

// foundIn lists what of all stands in b as it is, as JSON writes it, and in base64.
func foundIn(b []byte, all []secrets.Secret) (found []string) {
	for _, word := range unsaidWords() {
		all = append(all[:len(all):len(all)], secrets.Secret{Rule: "a word", Find: word})
	}
	for _, s := range all {
		for _, form := range []string{s.Find, strings.Trim(clitest.JSON(s.Find), `"`), strings.ReplaceAll(s.Find, "/", `\/`), base64.StdEncoding.EncodeToString([]byte(s.Find))} {
			if at := bytes.Index(b, []byte(form)); at >= 0 {
				found = append(found, fmt.Sprintf("%s %q: ...%s...", s.Rule, s.Find, b[max(0, at-60):min(len(b), at+len(form)+20)]))
				break
			}
		}
	}
	return found
}
