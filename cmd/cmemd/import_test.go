package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/internal/agents/importer"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/testkit/secrets"
	"github.com/cmemd/cmemd/testkit/sqlite"
)

// otherDatabase is a database of claude-mem in which each text stands in every column that may hold one, a session a text.
func otherDatabase(t *testing.T, texts ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "claude-mem.db")
	db := sqlite.Open(t, "file:"+path+"?_pragma=journal_mode(wal)")
	defer db.Close()
	run := func(statement string, args ...any) {
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	run(`CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id, memory_session_id, project, platform_source, started_at_epoch, status, completed_at_epoch)`)
	run(`CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_db_id, content_session_id, prompt_number, prompt_text, created_at_epoch)`)
	run(`CREATE TABLE tool_uses (id INTEGER PRIMARY KEY, session_db_id, content_session_id, project, tool_use_id, tool_name, tool_input, tool_response, cwd, agent_type, created_at_epoch)`)
	run(`CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id, project, type, title, subtitle, narrative, facts, concepts, files_read, files_modified, prompt_number, created_at_epoch)`)
	run(`CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id, project, request, investigated, learned, completed, next_steps, notes, created_at_epoch)`)
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).UnixMilli()
	for i, s := range texts {
		c, m, l := fmt.Sprintf("c-%d", i), fmt.Sprintf("m-%d", i), clitest.JSON([]string{s, "/src/shop/" + s})
		run("INSERT INTO sdk_sessions VALUES (?, ?, ?, ?, 'claude', ?, 'completed', ?)", i+1, c, m, "shop", at, at)
		run("INSERT INTO user_prompts VALUES (?, ?, ?, 1, ?, ?)", i+1, i+1, c, "look at this:\n"+s, at)
		run("INSERT INTO tool_uses VALUES (?, ?, ?, 'shop', ?, 'Bash', ?, ?, ?, ?, ?)", i+1, i+1, c, fmt.Sprint("toolu_", i),
			clitest.JSON(map[string]string{"command": "echo " + s}), "a\n"+s+"\nb", "/src/shop/"+s, s, at)
		run("INSERT INTO observations VALUES (?, ?, 'shop', ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)", i+1, m, s, "of "+s, s, "we used\n"+s, l, l, l, l, at)
		run("INSERT INTO session_summaries VALUES (?, ?, 'shop', ?, ?, ?, ?, ?, ?, ?)", i+1, m, s, s, s, s, s, s, at)
	}
	return path
}

// TestImportSweep imports a database that is full of secrets, and looks through the home, and through what is shown and taken
// away. Nothing is recorded twice, and every row is accounted for.
func TestImportSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	w := sweeper{matrixWorld{program: newProgram(t), ctx: ctx, cwd: "/src/shop"}, secrets.Make(4712)}
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.home, config.FileName), []string{`log_level = "debug"`})
	var texts []string
	for _, s := range w.all {
		texts = append(texts, s.Text)
	}
	path := otherDatabase(t, texts...)
	daemon := w.serve(ctx)
	defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
	w.client = client.Dial(w.home)
	defer w.client.Close()
	first, second := w.imports(path), w.imports(path)
	n := len(texts)
	want := map[importer.Kind]int{importer.Session: n, importer.Prompt: n, importer.ToolUse: n, importer.Observation: n, importer.Summary: n}
	if d := cmp.Diff(want, first.Recorded); d != "" || len(first.LeftOut) != 0 || first.Refused+first.Malformed != 0 {
		t.Errorf("left out %v, refused %d, malformed %d; recorded (-want +got):\n%s", first.LeftOut, first.Refused, first.Malformed, d)
	}
	if d := cmp.Diff(want, second.Known); d != "" || len(second.Recorded) != 0 {
		t.Errorf("the second time recorded %v; known (-want +got):\n%s", second.Recorded, d)
	}
	w.await("the views to know it", func(st api.Status) bool { return st.Ready && st.Inputs.Captured == 0 })
	w.commands()
	away := t.TempDir()
	for _, format := range []string{"md", "jsonl"} {
		if out, err := w.command(ctx, "export", "--format", format, "--out", filepath.Join(away, format)).CombinedOutput(); err != nil {
			t.Errorf("export: %v\n%s", err, out)
		}
	}
	w.searchIn("what was exported", away, "[redacted:")
	if out, err := w.command(ctx, "stop").CombinedOutput(); err != nil {
		t.Fatalf("stop: %v\n%s", err, out)
	}
	w.search("the home that is left", "[redacted:")
}

// importAnswer is what the command says of an import, as far as tests read it.
type importAnswer struct {
	InFile  map[importer.Kind]int `json:"in_file"`
	Rowless int                   `json:"sessions_without_row"`
	api.Imported
}

// imports runs the command, and returns what it says.
func (w *sweeper) imports(path string) (got importAnswer) {
	w.t.Helper()
	out, err := w.byPerson(w.ctx, "import", "claude-mem", path, "--json").CombinedOutput()
	if err != nil {
		w.t.Fatalf("import: %v\n%s", err, out)
	}
	if err := json.Unmarshal(out, &got); err != nil {
		w.t.Fatalf("%v in %s", err, out)
	}
	for _, kind := range importer.Kinds() {
		sum, rows := got.Recorded[kind]+got.Known[kind], got.InFile[kind]
		if kind == importer.Session {
			rows += got.Rowless
		}
		for _, n := range got.LeftOut[kind] {
			sum += n
		}
		if sum != rows {
			w.t.Errorf("%s: %d of %d rows are accounted for", kind, sum, rows)
		}
	}
	return got
}
