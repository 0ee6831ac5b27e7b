package claudemem

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/agents/importer"
	"github.com/cmemd/cmemd/testkit/sqlite"
)

// The columns that matter of a database of version 52, its constraints left out so that hostile rows fit.
const schema = `
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER, applied_at TEXT);
INSERT INTO schema_versions (version) VALUES (52);
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT, memory_session_id TEXT, project TEXT,
  platform_source TEXT DEFAULT 'claude', user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, completed_at TEXT,
  completed_at_epoch INTEGER, status TEXT);
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER, content_session_id TEXT,
  prompt_number INTEGER, prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE tool_uses (id INTEGER PRIMARY KEY AUTOINCREMENT, tool_use_id TEXT, content_session_id TEXT, session_db_id INTEGER,
  project TEXT, platform_source TEXT, tool_name TEXT, tool_input TEXT, tool_response TEXT, cwd TEXT, prompt_number INTEGER,
  agent_type TEXT, agent_id TEXT, created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
  title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
  prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER, merged_into_project TEXT);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT, project TEXT, request TEXT,
  investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, prompt_number INTEGER, created_at TEXT,
  created_at_epoch INTEGER, merged_into_project TEXT);`

// noon is when sessions of the tests begin, in milliseconds.
const noon = 1_772_600_000_000

// filled makes a database and returns its path. The writer stays open, as claude-mem's own would.
func filled(t *testing.T, statements ...string) (path string, writer *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "claude mem?.db") // a name that an address must quote
	writer = sqlite.Open(t, "file:"+strings.ReplaceAll(strings.ReplaceAll(path, "?", "%3f"), " ", "%20")+"?_pragma=journal_mode(wal)")
	for _, s := range statements {
		run(t, writer, s)
	}
	return path, writer
}

func run(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// planOf opens path and plans all of it.
func planOf(t *testing.T, path string, cfg Config) (*DB, *Plan) {
	t.Helper()
	return planBy(t, sqlite.Program(t), path, cfg)
}

func planBy(t *testing.T, program, path string, cfg Config) (*DB, *Plan) {
	t.Helper()
	db, err := Open(t.Context(), program, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.UnixMilli(noon).Add(1000 * time.Hour) }
	}
	plan, err := db.Plan(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return db, plan
}

func entriesOf(t *testing.T, p *Plan) (all []importer.Entry) {
	t.Helper()
	for e, err := range p.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// counted checks that each row of the database is an entry or left out for a reason.
func counted(t *testing.T, p *Plan, all []importer.Entry) {
	t.Helper()
	got := map[importer.Kind]int{}
	for _, e := range all {
		if e.Kind != importer.Session || e.Agent != importer.ClaudeMem { // sessions that only rows of them tell of have no row
			got[e.Kind]++
		}
	}
	for kind, reasons := range p.LeftOut() {
		for _, n := range reasons {
			got[kind] += n
		}
	}
	if d := cmp.Diff(p.Rows(), got); d != "" {
		t.Errorf("rows, and what became of them (-want +got):\n%s", d)
	}
}

// twoSessions is a database as it usually looks: the rows of two sessions that ran at the same time.
func twoSessions() []string {
	at := func(minute int) int { return noon + minute*60_000 }
	return []string{
		schema,
		fmt.Sprintf(`INSERT INTO sdk_sessions VALUES (7, 'c-2', 'm-2', 'parser', 'codex', NULL, '', %d, NULL, NULL, 'active'),
			(8, 'c-1', 'm-1', 'shop', 'claude', 'raise it', '', %d, NULL, %d, 'completed')`, at(1), at(0), at(2)),
		fmt.Sprintf(`INSERT INTO user_prompts VALUES (1, 8, 'c-1', 1, 'raise it', '', %d), (2, 7, 'c-2', 1, 'look', '', %d),
			(3, 8, 'c-1', 2, 'and test', '', %d)`, at(0), at(1), at(5)),
		fmt.Sprintf(`INSERT INTO tool_uses VALUES (1, 'toolu_1', 'c-1', 8, 'shop', 'claude', 'Read', '{"file_path":"/src/shop/a.go"}',
			'package a', '/src/shop/cmd', 1, NULL, NULL, '', %d)`, at(3)),
		fmt.Sprintf(`INSERT INTO observations VALUES (1, 'm-1', 'shop', NULL, 'decision', 'Raised', 'sub', '["a","b",3]', 'It is raised.',
			'["how-it-works"]', '["/src/shop/a.go"]', '["/src/shop/b.go"]', 1, '', %d, NULL),
			(2, 'm-2', 'parser', 'old text', 'bugfix', 'Looked', NULL, 'not a list', NULL, NULL, '["/w/parser/x.go"]', '', 1, '2026-03-04T05:00:00.000Z', NULL, NULL)`, at(4)),
		fmt.Sprintf(`INSERT INTO session_summaries VALUES (1, 'm-1', 'shop', 'raise', 'i', 'l', 'c', 'n', NULL, 2, '', %d, NULL)`, at(6)),
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, twoSessions()...)
	db, plan := planOf(t, path, Config{Folders: map[string]string{"parser": "/elsewhere/parser"}})
	if notes := db.Notes(); len(notes) != 0 {
		t.Errorf("notes: %q", notes)
	}
	all := entriesOf(t, plan)
	counted(t, plan, all)
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Kind, e.Agent, e.AgentSession, e.At.Format("15:04")))
	}
	start := time.UnixMilli(noon).UTC()
	clock := func(minute int) string { return start.Add(time.Duration(minute) * time.Minute).Format("15:04") }
	want := []string{
		"session claude-code c-1 " + clock(0), "prompt claude-code c-1 " + clock(0), "tool_use claude-code c-1 " + clock(3),
		"observation claude-code c-1 " + clock(4), "prompt claude-code c-1 " + clock(5), "summary claude-code c-1 " + clock(6),
		"session codex c-2 " + clock(1), "prompt codex c-2 " + clock(1), "observation codex c-2 05:00",
	}
	if start.After(time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)) { // the one with a date alone came first
		want = append([]string{"session codex c-2 05:00", "observation codex c-2 05:00", "prompt codex c-2 " + clock(1)}, want[:6]...)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for _, e := range all {
		switch {
		case e.Kind == importer.Observation && e.AgentSession == "c-1":
			w := importer.Entry{
				Kind: e.Kind, Name: fmt.Sprintf("1@%d", noon+240_000), At: start.Add(4 * time.Minute), Agent: "claude-code", AgentSession: "c-1",
				Project: "shop", Folder: "/src/shop", Number: 1, Type: "decision", Title: "Raised", Subtitle: "sub", Narrative: "It is raised.",
				Facts: []string{"a", "b"}, Concepts: []string{"how-it-works"}, Files: []string{"/src/shop/a.go", "/src/shop/b.go"},
			}
			if d := cmp.Diff(w, e); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		case e.Kind == importer.Observation:
			if e.Narrative != "old text" || len(e.Facts) != 1 || e.Folder != "/elsewhere/parser" {
				t.Errorf("an observation of an older form: %+v", e)
			}
		case e.Kind == importer.ToolUse && (e.Name != "toolu_1" || e.Tool != "Read" || e.Output != "package a" || e.Cwd != "/src/shop/cmd"):
			t.Errorf("tool use: %+v", e)
		case e.Kind == importer.Session && e.AgentSession == "c-1" && !e.Ended.Equal(start.Add(6*time.Minute)):
			t.Errorf("it ended at %s, want when the last of it happened", e.Ended)
		}
	}
}

// The database is read while its program writes: in the middle of a transaction of that, and what is added is left alone.
func TestReadsBesideItsProgram(t *testing.T) {
	t.Parallel()
	path, writer := filled(t, twoSessions()...)
	tx, err := writer.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(`INSERT INTO observations (memory_session_id, project, title, created_at_epoch) VALUES ('m-1', 'shop', 'unsaid', ?)`, noon); err != nil {
		t.Fatal(err)
	}
	_, plan := planOf(t, path, Config{})
	if err := tx.Commit(); err != nil {
		t.Fatalf("the reader keeps the writer from writing: %v", err)
	}
	run(t, writer, "DELETE FROM session_summaries")
	all := entriesOf(t, plan)
	counted(t, plan, all)
	for _, e := range all {
		if e.Title == "unsaid" || e.Kind == importer.Summary {
			t.Errorf("%+v is read", e)
		}
	}
	if n := plan.LeftOut()[importer.Summary][reasonGone]; n != 1 {
		t.Errorf("%d summaries are gone, want 1", n)
	}
	var n int
	if err := writer.QueryRow("SELECT count(*) FROM observations").Scan(&n); err != nil || n != 3 {
		t.Errorf("the writer sees %d observations, %v", n, err)
	}
}

func TestOnlyProjects(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, twoSessions()...)
	_, plan := planOf(t, path, Config{Projects: []string{"parser"}})
	all := entriesOf(t, plan)
	counted(t, plan, all)
	if len(all) != 3 || len(plan.Projects()) != 1 || plan.Total() != 3 {
		t.Errorf("%d entries of %v", len(all), plan.Projects())
	}
}

// An older version has other names, and less.
func TestOlderSchema(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, `CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT, sdk_session_id TEXT, project TEXT,
			user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, status TEXT);
		CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, text TEXT, type TEXT, created_at TEXT, created_at_epoch INTEGER);
		CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT);`,
		fmt.Sprintf(`INSERT INTO sdk_sessions VALUES (1, 'c', 'm', 'shop', 'do it', '', %d, 'active')`, noon/1000),
		fmt.Sprintf(`INSERT INTO observations VALUES (1, 'm', 'shop', 'It works.', 'change', '', %d)`, noon),
	)
	db, plan := planOf(t, path, Config{})
	all := entriesOf(t, plan)
	counted(t, plan, all)
	if len(all) != 3 || all[1].Kind != importer.Prompt || all[1].Text != "do it" || all[2].Narrative != "It works." || !all[0].At.Equal(time.UnixMilli(noon)) {
		t.Errorf("%+v", all)
	}
	notes := strings.Join(db.Notes(), "\n")
	for _, want := range []string{"no table user_prompts", "no table tool_uses", "session_summaries lacks memory_session_id", "observations lacks merged_into_project"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not said in:\n%s", want, notes)
		}
	}
}

func TestNewerSchemaIsTold(t *testing.T) {
	t.Parallel()
	path, _ := filled(t, append(twoSessions(), `INSERT INTO schema_versions (version) VALUES (4711)`)...)
	db, _ := planOf(t, path, Config{})
	if notes := strings.Join(db.Notes(), "\n"); !strings.Contains(notes, "4711") {
		t.Errorf("notes: %q", notes)
	}
}

// A row that names no session of the database is of the one that its agent calls so, of whatever platform; where that is
// not there, the session has no row, and is counted apart.
func TestSessionsOfOtherPlatforms(t *testing.T) {
	t.Parallel()
	const sessions = `CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, project TEXT, platform_source TEXT, started_at_epoch INTEGER);
		INSERT INTO sdk_sessions VALUES (1, 'one', 'shop', 'codex', 1772600000000), (2, 'two', 'shop', 'codex', 1772600000000),
			(3, 'two', 'shop', 'claude', 1772600000000), (4, 'one', 'shop', 'codex', 1772600000000);`
	const rows = `INSERT INTO user_prompts (content_session_id, prompt_text, created_at_epoch) VALUES ('one', 'a', 1772600000000), ('two', 'b', 1772600000000), ('new', 'c', 1772600000000);`
	for name, prompts := range map[string]string{
		"without the column": `CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_text TEXT, created_at_epoch INTEGER);`,
		"with nothing in it": `CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_db_id INTEGER, content_session_id TEXT, prompt_text TEXT, created_at_epoch INTEGER);`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, _ := filled(t, sessions, prompts, rows)
			_, plan := planOf(t, path, Config{})
			got := map[string]string{}
			made := 0
			for _, e := range entriesOf(t, plan) {
				if made++; e.Kind == importer.Prompt {
					got[e.Text] = e.Agent + " " + e.AgentSession
				}
			}
			if d := cmp.Diff(map[string]string{"a": "codex one", "b": "claude-code two", "c": "claude-code new"}, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if left := plan.LeftOut()[importer.Session]; made != 7 || plan.Rowless() != 1 || plan.Rows()[importer.Session] != 4 || left[reasonTwice] != 1 {
				t.Errorf("%d entries, %d sessions without a row, rows %v, left out %v", made, plan.Rowless(), plan.Rows(), left)
			}
		})
	}
}

// No value is trusted to be of its column's type.
func TestHostileRows(t *testing.T) {
	t.Parallel()
	path, w := filled(t, schema)
	run(t, w, `INSERT INTO sdk_sessions VALUES (1, 'c', 'm', 'shop', 'claude', NULL, 4, ?, NULL, 'never', 'completed'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		(3, x'ff00', x'ff', 1.5, 7, x'00', 'x', 'y', 'z', 'w', 3), (4, 'dateless', 'm-4', 'shop', '../..', NULL, NULL, -9223372036854775808, NULL, 1e300, 'active')`, noon)
	run(t, w, `INSERT INTO user_prompts VALUES (1, 1, 'c', 'two', x'ff', '', ?), (2, 99, 'c', 2, 42, '', ?), (3, NULL, NULL, 1, 'nobody', '', ?), (-5, 1, 'c', -1, 'below', '', ?)`, noon, noon, noon, noon)
	run(t, w, `INSERT INTO observations (id, memory_session_id, title, created_at_epoch, facts) VALUES (1, 'm', ?, ?, '[1,null,{"a":1},"good"]'), (2, 'm', 'no time', NULL, NULL),
		(3, 'm', 'far', 99999999999999999, NULL), (4, 'unknown', 'orphan', ?, '{}'), (5, NULL, 'whose', ?, NULL), (9223372036854775807, 'm', 'last', ?, 'x')`,
		strings.Repeat("x", maxText+1), noon, noon, noon, noon)
	run(t, w, `INSERT INTO tool_uses (id, content_session_id, tool_name, cwd, created_at_epoch) VALUES (1, 'c', NULL, '../../etc', ?), (2, 'new', 'Read', '/', ?)`, noon, noon)
	_, plan := planOf(t, path, Config{})
	all := entriesOf(t, plan)
	titles := map[string]bool{}
	for _, e := range all {
		titles[string(e.Kind)+":"+e.Title+e.Text] = true
		if e.At.IsZero() || e.AgentSession == "" || len(e.Title) > maxText {
			t.Errorf("%+v", e)
		}
	}
	for _, want := range []string{"observation:orphan", "observation:last", "prompt:42", "prompt:below"} {
		if !titles[want] {
			t.Errorf("%s is not among %v", want, titles)
		}
	}
	want := map[importer.Kind]importer.ReasonCount{
		importer.Session:     {importer.ReasonNoSession: 2, importer.ReasonNoTime: 1},
		importer.Prompt:      {importer.ReasonDamaged: 1, importer.ReasonNoSession: 1},
		importer.Observation: {importer.ReasonLong: 1, importer.ReasonNoTime: 2, importer.ReasonNoSession: 1},
	}
	if d := cmp.Diff(want, plan.LeftOut()); d != "" {
		t.Errorf("left out (-want +got):\n%s", d)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign, _ := filled(t, "CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, url TEXT)")
	for _, c := range []struct {
		name, path string
		want       error
	}{
		{"nothing", filepath.Join(dir, "none"), os.ErrNotExist},
		{"a folder", dir, ErrNotSQLite},
		{"an empty file", write("empty", ""), ErrNotSQLite},
		{"a text", write("text", strings.Repeat("SQLite format 2 ", 100)), ErrNotSQLite},
		{"another program's", foreign, ErrForeign},
	} {
		if db, err := Open(t.Context(), sqlite.Program(t), c.path); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
			if db != nil {
				_ = db.Close()
			}
		}
	}
}

// A damaged database is an error, and never a panic or an endless reading.
func TestDamage(t *testing.T) {
	t.Parallel()
	path, w := filled(t, twoSessions()...)
	run(t, w, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for at := 100; at < len(whole); at += 509 {
		broken := append([]byte(nil), whole...)
		for i := at; i < min(at+64, len(broken)); i++ {
			broken[i] ^= 0xa5
		}
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(ctx, sqlite.Program(t), path)
		if err != nil {
			continue
		}
		if plan, err := db.Plan(ctx, Config{}); err == nil {
			for _, err := range plan.Entries(ctx) {
				if err != nil {
					break
				}
			}
		}
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if ctx.Err() != nil {
		t.Error(ctx.Err())
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ project, file, want string }{
		{"shop", "/home/me/shop/a/b.go", "/home/me/shop"}, {"shop", "/home/me/shop", "/home/me/shop"},
		{"shop", "/home/me/workshop/a.go", ""}, {"shop", "shop/a.go", ""}, {"parent/tree", "/w/tree/x.go", "/w/tree"},
		{"", "/a/b", ""}, {"..", "/a/../b", ""}, {"/", "/a", ""}, {"shop", "/a/shop/shop/x", "/a/shop"},
	} {
		if got := cut(c.project, c.file); got != c.want {
			t.Errorf("cut(%q, %q) = %q, want %q", c.project, c.file, got, c.want)
		}
	}
	f := folders{}
	f.files("shop", []string{"/b/shop/x", "/b/shop/y", "/a/shop/z"})
	f.used("shop", "/c/shop/cmd")
	f.used("odd", "/somewhere/else")
	if got := []string{f.of("shop"), f.of("odd"), f.of("none")}; !cmp.Equal(got, []string{"/c/shop", "/somewhere/else", ""}) {
		t.Errorf("got %q", got)
	}
}

func FuzzList(f *testing.F) {
	for _, s := range []string{`["a","b"]`, `[1,null]`, `{}`, `not a list`, ``, `[`, `"x"`, "[\"\xff\"]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, each := range textsOf(s) {
			if each == "" {
				t.Errorf("%q has an empty text", s)
			}
		}
	})
}
