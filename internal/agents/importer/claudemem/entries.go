package claudemem

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/agents/importer"
)

// The reasons for which a row of this database alone is left out.
const (
	reasonGone    = "deleted meanwhile"
	reasonTwice   = "of a session that is there already"
	reasonUnread  = "of a session that cannot be read"
	reasonDamaged = "in the damaged part"
)

// Entries yields what is planned, session by session, each session first and then what is of it by time. Rows that say
// nothing usable, or cannot be read, are left out and counted. An error, ctx's, ErrChanged or SQLite's, ends it. It may be
// used once.
func (p *Plan) Entries(ctx context.Context) iter.Seq2[importer.Entry, error] {
	return func(yield func(importer.Entry, error) bool) {
		for _, o := range p.sessions {
			if !yield(p.sessionEntry(o), nil) {
				return
			}
			if e, ok, err := p.firstPrompt(ctx, o); err != nil || ok {
				if !yield(e, err) || err != nil {
					return
				}
			}
			for _, f := range o.refs {
				e, reason, err := p.entry(ctx, o, f)
				if p.damaged(err) {
					reason, err = reasonDamaged, nil
				}
				if err != nil {
					yield(importer.Entry{}, err)
					return
				}
				if reason != "" {
					p.LeaveOut(f.kind, reason)
					continue
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// newEntry is an entry of o without content.
func (p *Plan) newEntry(o *owner, kind importer.Kind, name string, at time.Time) importer.Entry {
	return importer.Entry{
		Kind: kind, Name: name, At: at, Agent: o.agent.agent, AgentSession: o.agent.id, Project: o.project, Folder: p.Folder(o.project),
	}
}

func (p *Plan) sessionEntry(o *owner) importer.Entry {
	e := p.newEntry(o, importer.Session, "session", o.start)
	e.Ended = o.end
	return e
}

// firstPrompt is the prompt that a session's own row has, in versions without a table of prompts.
func (p *Plan) firstPrompt(ctx context.Context, o *owner) (e importer.Entry, ok bool, err error) {
	t := p.d.tables["sdk_sessions"]
	if o.row == 0 || o.prompted || p.d.tables["user_prompts"].present {
		return e, false, nil
	}
	rows, err := p.d.one(ctx, t, o.row)
	if p.damaged(err) {
		return e, false, nil
	}
	if err != nil || len(rows) == 0 {
		return e, false, err
	}
	text, good := rows[0].text("user_prompt")
	if !good || strings.TrimSpace(text) == "" {
		return e, false, nil
	}
	e = p.newEntry(o, importer.Prompt, "first", o.start)
	e.Text, e.Number = text, 1
	p.rows[importer.Prompt]++
	return e, true, nil
}

// one reads one row of t whole; none where it is gone.
func (d *DB) one(ctx context.Context, t *table, id int64) ([]row, error) {
	return d.read(ctx, t, t.columns, maxText, "rowid = ?", id)
}

// entry reads the row that f names; a reason says why it is none.
func (p *Plan) entry(ctx context.Context, o *owner, f ref) (e importer.Entry, reason string, err error) {
	t := p.d.tableOf(f.kind)
	rows, err := p.d.one(ctx, t, f.row)
	if err != nil {
		return e, "", err
	}
	if len(rows) == 0 {
		return e, reasonGone, nil
	}
	r := rows[0]
	if p.d.truncated != nil && r.hasZeroByte() {
		return e, reasonDamaged, nil
	}
	if r.long {
		return e, importer.ReasonLong, nil
	}
	if !r.isText() {
		return e, importer.ReasonDamaged, nil
	}
	e = p.newEntry(o, f.kind, fmt.Sprintf("%d@%d", f.row, f.at), time.UnixMilli(f.at).UTC())
	e.Number = r.number("prompt_number")
	fill(&e, r)
	return e, "", nil
}

func (d *DB) tableOf(kind importer.Kind) *table {
	for _, t := range d.tables {
		if t.kind == kind {
			return t
		}
	}
	return nil
}

// fill puts the columns of r into an entry.
func fill(e *importer.Entry, r row) {
	text := func(column string) string {
		s, _ := r.text(column)
		return s
	}
	switch e.Kind {
	case importer.Prompt:
		e.Text = text("prompt_text")
	case importer.ToolUse:
		e.Name = cmp.Or(strings.TrimSpace(text("tool_use_id")), e.Name)
		e.Tool, e.Input, e.Output = text("tool_name"), text("tool_input"), text("tool_response")
		e.Cwd, e.SubagentID, e.SubagentType = text("cwd"), text("agent_id"), text("agent_type")
	case importer.Observation:
		e.Type, e.Title, e.Subtitle, e.Narrative = text("type"), text("title"), text("subtitle"), cmp.Or(text("narrative"), text("text"))
		e.Facts, e.Concepts = textsOf(text("facts")), textsOf(text("concepts"))
		e.Files = slices.Concat(textsOf(text("files_read")), textsOf(text("files_modified")))
	case importer.Summary:
		e.Request, e.Investigated, e.Learned = text("request"), text("investigated"), text("learned")
		e.Completed, e.NextSteps, e.Notes = text("completed"), text("next_steps"), text("notes")
	}
}
