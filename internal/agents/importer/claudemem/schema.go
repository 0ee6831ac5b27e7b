package claudemem

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/agents/importer"
)

// knownSchema is the latest schema version whose columns were looked at.
const knownSchema = 52

// maxText is how many bytes one value may have. The longest that claude-mem writes itself are prompts of 256 KiB.
const maxText = 1 << 20

// table is what is read of one table of claude-mem's.
type table struct {
	name    string
	kind    importer.Kind
	columns []column
	present bool
	have    map[string]bool // the columns that it has
}

// column is one value that is read. Names are what it is called, the newest first; needed ones that are missing leave the
// whole table unread, and planned ones are read for a plan too.
type column struct {
	names           []string
	needed, planned bool
}

func col(names ...string) column  { return column{names: names} }
func must(names ...string) column { return column{names: names, needed: true} }

// forPlan is c as a column that is read for a plan too.
func forPlan(c column) column {
	c.planned = true
	return c
}

// tables are those that are read, with the columns of each.
func tables() []*table {
	memory := forPlan(must("memory_session_id", "sdk_session_id"))
	content := forPlan(must("content_session_id", "claude_session_id"))
	merged, project, number := forPlan(col("merged_into_project")), forPlan(col("project")), col("prompt_number")
	db, epoch, iso := forPlan(col("session_db_id")), forPlan(col("created_at_epoch")), forPlan(col("created_at"))
	return []*table{
		{name: "sdk_sessions", kind: importer.Session, columns: []column{
			content, forPlan(col("memory_session_id", "sdk_session_id")), project, forPlan(col("platform_source")), col("user_prompt"),
			forPlan(col("started_at_epoch")), forPlan(col("started_at")), forPlan(col("completed_at_epoch")), forPlan(col("completed_at")), forPlan(col("status")),
		}},
		{name: "user_prompts", kind: importer.Prompt, columns: []column{content, db, epoch, iso, number, must("prompt_text")}},
		{name: "tool_uses", kind: importer.ToolUse, columns: []column{
			content, db, epoch, iso, number, project, forPlan(col("platform_source")), col("tool_use_id"), must("tool_name"),
			col("tool_input"), col("tool_response"), forPlan(col("cwd")), col("agent_id"), col("agent_type"),
		}},
		{name: "observations", kind: importer.Observation, columns: []column{
			memory, merged, epoch, iso, number, project, col("type"), col("title"), col("subtitle"), col("narrative"), col("text"),
			col("facts"), col("concepts"), forPlan(col("files_read")), forPlan(col("files_modified")),
		}},
		{name: "session_summaries", kind: importer.Summary, columns: []column{
			memory, merged, epoch, iso, number, project, col("request"), col("investigated"), col("learned"), col("completed"),
			col("next_steps"), col("notes"),
		}},
	}
}

// learn looks which of the tables and columns are there.
func (d *DB) learn(ctx context.Context) error {
	there, err := d.names(ctx, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
	if err != nil {
		return err
	}
	d.tables = map[string]*table{}
	found := 0
	for _, t := range tables() {
		d.tables[t.name] = t
		if !slices.Contains(there, t.name) {
			d.notes = append(d.notes, fmt.Sprintf("there is no table %s: none of its kind is read", t.name))
			continue
		}
		columns, err := d.names(ctx, "SELECT name FROM pragma_table_info(?)", t.name)
		if err != nil {
			return err
		}
		if d.noteColumns(t, columns); t.present {
			found++
		}
	}
	if found == 0 {
		return fmt.Errorf("%w: it has none of the tables that are read, or none of their columns (tables: %s)", ErrForeign, joinFirst(there))
	}
	return d.learnVersion(ctx, there)
}

// noteColumns notes which columns t has.
func (d *DB) noteColumns(t *table, columns []string) {
	t.present, t.have = true, map[string]bool{}
	for _, c := range columns {
		t.have[c] = true
	}
	var missing []string
	for _, c := range t.columns {
		if t.columnName(c) != "" {
			continue
		}
		missing = append(missing, c.names[0])
		if c.needed {
			t.present = false
		}
	}
	switch {
	case !t.present:
		d.notes = append(d.notes, fmt.Sprintf("%s lacks %s: none of it is read", t.name, strings.Join(missing, ", ")))
	case len(missing) > 0:
		d.notes = append(d.notes, fmt.Sprintf("%s lacks %s: these are left empty", t.name, strings.Join(missing, ", ")))
	}
}

// columnName is the name under which t has c; empty: it has none.
func (t *table) columnName(c column) string {
	for _, name := range c.names {
		if t.have[name] {
			return name
		}
	}
	return ""
}

// learnVersion tells of a schema that is newer than what is known.
func (d *DB) learnVersion(ctx context.Context, there []string) error {
	if !slices.Contains(there, "schema_versions") {
		return nil
	}
	var v any
	if err := d.db.QueryRowContext(ctx, "SELECT max(version) FROM schema_versions").Scan(&v); err != nil {
		return nil // a table of that name with other columns says nothing
	}
	if n, ok := v.(int64); ok && n > knownSchema {
		d.notes = append(d.notes, fmt.Sprintf("its schema is version %d, and %d is the newest that is known: what is new in it is not read", n, knownSchema))
	}
	return nil
}

func (d *DB) names(ctx context.Context, query string, args ...any) (names []string, err error) {
	rows, err := d.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, d.wrong("its tables", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, d.wrong("its tables", err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, d.wrong("its tables", err)
	}
	return names, d.unchanged()
}

// joinFirst is names in a line, the first ten.
func joinFirst(names []string) string {
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > 10:
		return strings.Join(names[:10], ", ") + fmt.Sprintf(" and %d more", len(names)-10)
	}
	return strings.Join(names, ", ")
}

// selectList is the list of what is read of t: each of the chosen columns, empty if it has more than most bytes or is not there,
// and how many had more.
func (t *table) selectList(maxBytes int, chosen []column) string {
	var parts, long []string
	for _, c := range chosen {
		name := t.columnName(c)
		if name == "" {
			parts = append(parts, "NULL")
			continue
		}
		parts = append(parts, fmt.Sprintf(`CASE WHEN octet_length("%s") <= %d THEN "%s" END`, name, maxBytes, name))
		long = append(long, fmt.Sprintf(`coalesce(octet_length("%s") > %d, 0)`, name, maxBytes))
	}
	if len(long) == 0 {
		long = []string{"0"}
	}
	return "rowid, " + strings.Join(long, " + ") + ", " + strings.Join(parts, ", ")
}

// planText is how many bytes one value may have that a plan looks at: names, times, and lists of files.
const planText = 32 << 10

// planned are the columns that a plan needs.
func (t *table) planned() []column {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c column) bool { return !c.planned })
}
