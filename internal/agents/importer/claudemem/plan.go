package claudemem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/internal/agents/importer"
	"github.com/cmemd/cmemd/internal/agents/known"
)

// Config says what is read of a database. The zero value reads all.
type Config struct {
	Projects []string          // only these, as the database names them; none: all
	Folders  map[string]string // where projects are, by name; of the others the database's own paths tell
	Now      func() time.Time  // nil: time.Now
}

// Plan is what a database holds, in the order in which it is recorded: session by session, the oldest first.
type Plan struct {
	d        *DB
	cfg      Config
	sessions []*owner
	byMemory map[string]*owner
	byRow    map[int64]*owner
	byAgent  map[agentSession]*owner
	byID     map[string][]*owner // by what their agents call them
	names    []string            // of the projects, those not asked for too
	folders  folders
	rows     map[importer.Kind]int
	leftOut  map[importer.Kind]importer.ReasonCount
	total    int
	rowless  int
	damage   error // the first that was met
	unread   bool  // sessions may be missing
}

// owner is one session, and what is of it.
type owner struct {
	row      int64 // of sdk_sessions; 0: it has none
	agent    agentSession
	project  string
	prompted bool // it has rows among the prompts
	start    time.Time
	end      time.Time
	refs     []ref
}

// agentSession is a session as its agent calls it.
type agentSession struct{ agent, id string }

// ref is one row that will be read.
type ref struct {
	kind importer.Kind
	row  int64
	at   int64 // milliseconds since 1970
}

// pageRows is how many rows are read at once.
const pageRows = 500

// Plan looks through all rows without their texts. Rows that are added later are not in it. Of a damaged database it has what
// can be read: see Damage. Errors are ctx's, ErrChanged and SQLite's.
func (d *DB) Plan(ctx context.Context, cfg Config) (*Plan, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Plan{
		d: d, cfg: cfg, byMemory: map[string]*owner{}, byRow: map[int64]*owner{}, byAgent: map[agentSession]*owner{},
		byID: map[string][]*owner{}, damage: d.truncated, folders: folders{}, rows: map[importer.Kind]int{},
		leftOut: map[importer.Kind]importer.ReasonCount{},
	}
	last := map[string]int64{} // taken first: rows that are there then have their sessions when those are read
	for _, t := range tables() {
		id, err := d.lastRow(ctx, d.tables[t.name])
		if p.damaged(err) {
			id, err = 1<<63-1, nil
		}
		if err != nil {
			return nil, err
		}
		last[t.name] = id
	}
	for _, t := range tables() {
		upTo := last[t.name]
		if t.kind == importer.Session {
			upTo = 1<<63 - 1
		}
		err := d.pages(ctx, d.tables[t.name], upTo, p.take)
		if err != nil && !p.damaged(err) {
			return nil, err
		}
		p.unread = p.unread || err != nil && t.kind == importer.Session
	}
	p.order()
	return p, nil
}

// damaged reports whether err is the database's damage, and keeps the first.
func (p *Plan) damaged(err error) bool {
	if !errors.Is(err, ErrDamaged) {
		return false
	}
	p.damage = cmp.Or(p.damage, err)
	return true
}

// Damage is an ErrDamaged if not all of the database could be read, so far: after Entries it is complete.
func (p *Plan) Damage() error { return p.damage }

func (d *DB) lastRow(ctx context.Context, t *table) (int64, error) {
	if !t.present {
		return 0, nil
	}
	var id any
	if err := d.db.QueryRowContext(ctx, fmt.Sprintf("SELECT max(rowid) FROM %q", t.name)).Scan(&id); err != nil {
		return 0, d.wrong(t.name, err)
	}
	n, _ := id.(int64)
	return n, nil
}

// pages reads the columns of t that a plan needs, a page at a time: no lock is held between two.
func (d *DB) pages(ctx context.Context, t *table, upTo int64, each func(t *table, r row)) error {
	if !t.present {
		return nil
	}
	chosen, where := t.planned(), fmt.Sprintf("rowid > ? AND rowid <= ? ORDER BY rowid LIMIT %d", pageRows)
	for after := int64(-1 << 63); ; {
		page, err := d.read(ctx, t, chosen, planText, where, after, upTo)
		for _, r := range page {
			each(t, r)
		}
		if err != nil || len(page) < pageRows {
			return err
		}
		after = page[len(page)-1].id
	}
}

// read returns the chosen columns of those rows of t for which where holds, each value at most most bytes long; with an error,
// those before it.
func (d *DB) read(ctx context.Context, t *table, chosen []column, most int, where string, args ...any) (out []row, err error) {
	query := fmt.Sprintf("SELECT %s FROM %q WHERE %s", t.selectList(most, chosen), t.name, where)
	rows, err := d.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, d.wrong(t.name, err)
	}
	defer rows.Close()
	for rows.Next() {
		r, long := row{columns: chosen, values: make([]any, len(chosen))}, int64(0)
		into := []any{&r.id, &long}
		for i := range r.values {
			into = append(into, &r.values[i])
		}
		if err := rows.Scan(into...); err != nil {
			return out, d.wrong(t.name, err)
		}
		r.long = long > 0
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return out, d.wrong(t.name, err)
	}
	return out, d.unchanged()
}

func (p *Plan) take(t *table, r row) {
	p.rows[t.kind]++
	if p.d.truncated != nil && r.hasZeroByte() {
		p.unread = p.unread || t.kind == importer.Session
		p.LeaveOut(t.kind, reasonDamaged)
		return
	}
	if t.kind == importer.Session {
		p.session(r)
		return
	}
	o := p.ownerOf(t.kind, r)
	if o == nil {
		p.leaveOut(t.kind, importer.ReasonNoSession)
		return
	}
	at := r.at("created_at", p.cfg.Now())
	if at.IsZero() {
		p.leaveOut(t.kind, importer.ReasonNoTime)
		return
	}
	o.prompted = o.prompted || t.kind == importer.Prompt
	o.refs = append(o.refs, ref{kind: t.kind, row: r.id, at: at.UnixMilli()})
}

// LeaveOut counts an entry that is not taken, for a reason.
func (p *Plan) LeaveOut(kind importer.Kind, reason string) {
	importer.Count(p.leftOut, kind, reason, 1)
}

// leaveOut is LeaveOut of a row that says too little: in a damaged database because of that.
func (p *Plan) leaveOut(kind importer.Kind, reason string) {
	switch {
	case p.d.truncated != nil:
		reason = reasonDamaged
	case p.unread && reason == importer.ReasonNoSession:
		reason = reasonUnread
	}
	p.LeaveOut(kind, reason)
}

func (p *Plan) session(r row) {
	id := agentSession{agentOf(r.name("platform_source")), r.name("content_session_id")}
	if id.id == "" {
		p.unread = p.unread || p.d.truncated != nil
		p.leaveOut(importer.Session, importer.ReasonNoSession)
		return
	}
	o := p.byAgent[id]
	if o != nil {
		p.LeaveOut(importer.Session, reasonTwice)
	} else {
		o = p.add(&owner{agent: id, project: r.name("project"), row: r.id, start: r.at("started_at", p.cfg.Now())})
		if s := r.name("status"); s == "completed" || s == "failed" {
			o.end = r.at("completed_at", p.cfg.Now())
		}
	}
	p.byRow[r.id] = o
	if memory := r.name("memory_session_id"); memory != "" && p.byMemory[memory] == nil {
		p.byMemory[memory] = o
	}
}

func (p *Plan) add(o *owner) *owner {
	p.sessions = append(p.sessions, o)
	p.byAgent[o.agent] = o
	p.byID[o.agent.id] = append(p.byID[o.agent.id], o)
	return o
}

// ownerOf is the session that a row is of. One that has no row of its own is known by what the row says.
func (p *Plan) ownerOf(kind importer.Kind, r row) *owner {
	switch kind {
	case importer.Prompt, importer.ToolUse:
		if id, ok := whole(r.value("session_db_id")); ok && p.byRow[id] != nil {
			return p.toolFolder(kind, r, p.byRow[id])
		}
		platform, project, name := r.name("platform_source"), r.name("project"), r.name("content_session_id")
		id := agentSession{agentOf(platform), name}
		if all := p.byID[name]; platform == "" && len(all) == 1 {
			id = all[0].agent
		}
		return p.toolFolder(kind, r, p.known(id, project))
	}
	name, merged := r.name("memory_session_id"), r.name("merged_into_project")
	project := cmp.Or(merged, r.name("project"))
	o := p.byMemory[name]
	if o == nil {
		o = p.known(agentSession{importer.ClaudeMem, name}, project)
	}
	if o != nil && (o.project == "" || merged != "") {
		o.project = project
	}
	if kind == importer.Observation && o != nil {
		for _, column := range []string{"files_read", "files_modified"} {
			files, _ := r.text(column)
			p.folders.files(cmp.Or(o.project, project), textsOf(files))
		}
	}
	return o
}

// toolFolder learns where a tool was used.
func (p *Plan) toolFolder(kind importer.Kind, r row, o *owner) *owner {
	if kind == importer.ToolUse && o != nil {
		cwd, _ := r.text("cwd")
		p.folders.used(cmp.Or(o.project, r.name("project")), cwd)
	}
	return o
}

// known is the session of that name, made if it has no row; nil: it has no name, or its row may be one that cannot be read.
// A session that is made then would be another one once the database is mended.
func (p *Plan) known(id agentSession, project string) *owner {
	switch o := p.byAgent[id]; {
	case id.id == "":
		return nil
	case o != nil:
		o.project = cmp.Or(o.project, project)
		return o
	case p.unread:
		return nil
	}
	return p.add(&owner{agent: id, project: project})
}

// order sorts sessions and what is of them by time, and drops what is not asked for.
func (p *Plan) order() {
	rank := importer.Kinds()
	for _, o := range p.sessions {
		slices.SortFunc(o.refs, func(a, b ref) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(slices.Index(rank, a.kind), slices.Index(rank, b.kind)), cmp.Compare(a.row, b.row))
		})
		if len(o.refs) > 0 {
			first := time.UnixMilli(o.refs[0].at).UTC()
			if o.start.IsZero() || first.Before(o.start) {
				o.start = first
			}
			if last := time.UnixMilli(o.refs[len(o.refs)-1].at).UTC(); !o.end.IsZero() && o.end.Before(last) {
				o.end = last
			}
		}
	}
	for _, o := range p.sessions {
		p.names = append(p.names, o.project)
	}
	slices.Sort(p.names)
	p.names = slices.Compact(p.names)
	p.sessions = slices.DeleteFunc(p.sessions, p.drop)
	slices.SortStableFunc(p.sessions, func(a, b *owner) int { return a.start.Compare(b.start) })
	for _, o := range p.sessions {
		p.total += 1 + len(o.refs)
		if o.row == 0 {
			p.rowless++
		}
	}
}

// drop reports whether a session is not read, and counts what is of it as left out.
func (p *Plan) drop(o *owner) bool {
	reason := ""
	switch {
	case len(p.cfg.Projects) > 0 && !slices.Contains(p.cfg.Projects, o.project):
		reason = "of another project"
	case o.start.IsZero():
		reason = importer.ReasonNoTime
	default:
		return false
	}
	if o.row != 0 {
		p.LeaveOut(importer.Session, reason)
	}
	for _, f := range o.refs {
		p.LeaveOut(f.kind, reason)
	}
	return true
}

// Rows counts the rows that the database has of each kind, and Total the entries that Entries yields unless it leaves some out.
func (p *Plan) Rows() map[importer.Kind]int { return p.rows }

// Total is how many entries there are at most.
func (p *Plan) Total() int { return p.total }

// Rowless is how many sessions the entries have for which the database has no row: other rows tell of them.
func (p *Plan) Rowless() int { return p.rowless }

// Names are the projects that the database names, those that are not asked for too, sorted. The slice is the caller's.
func (p *Plan) Names() []string {
	return slices.DeleteFunc(slices.Clone(p.names), func(s string) bool { return s == "" })
}

// LeftOut says what is not among the entries, and why. After Entries it is complete.
func (p *Plan) LeftOut() map[importer.Kind]importer.ReasonCount { return p.leftOut }

// Folder says where a project is, as far as is known.
func (p *Plan) Folder(project string) string {
	if dir := p.cfg.Folders[project]; dir != "" {
		return dir
	}
	return p.folders.of(project)
}

// Projects counts the entries of each project.
func (p *Plan) Projects() map[string]int {
	count := map[string]int{}
	for _, o := range p.sessions {
		count[o.project] += 1 + len(o.refs)
	}
	return count
}

// agentOf is what hooks call the agent of a platform.
func agentOf(platform string) string {
	if a, ok := known.ByAlias(cmp.Or(platform, "claude")); ok {
		return a.Name
	}
	return platform
}
