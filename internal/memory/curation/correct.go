package curation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/rows"
)

// correct saves m in the place of the row that it supersedes, and of those that say the same in its session. What was saved
// and what it replaces is one append.
func (c *Curator) correct(ctx context.Context, m api.Memory, by By, now time.Time) (out api.Saved, err error) {
	release, err := c.begin(ctx)
	if err != nil {
		return out, err
	}
	defer release()
	row, err := c.corrected(ctx, m.Supersedes, by)
	if err != nil {
		return out, err
	}
	same, err := c.cfg.Views.Same(ctx, row)
	if err != nil {
		return out, err
	}
	inherit(&m, row)
	out = api.Saved{ID: newID(), Superseded: append([]events.ID{row.ID}, same...)}
	decided := []events.Event{c.cfg.Redact(savedMemory(&m, out.ID, by.Writer, now))}
	for _, id := range out.Superseded {
		decided = append(decided, events.MemorySuperseded{Memory: id, By: out.ID, Writer: by.Writer})
	}
	first, last, err := c.append(ctx, now, decided...)
	out.Handle, out.Position = first, last
	return out, err
}

// corrected is the row that text names, if it can be corrected.
func (c *Curator) corrected(ctx context.Context, text string, by By) (api.Row, error) {
	id, err := c.cfg.Resolve(ctx, text)
	if err != nil {
		return api.Row{}, err
	}
	row, err := c.cfg.Views.Row(ctx, id)
	switch {
	case err != nil:
		return api.Row{}, err
	case row.Forgotten:
		return api.Row{}, conflict("It was forgotten", "what was forgotten cannot be corrected: save it anew")
	case row.Kind == rows.Prompt:
		return api.Row{}, conflict("It is a prompt", "what a person asked is no memory that can be wrong: correct what came of it")
	case row.Superseded && row.ByHand && row.SupersededBy == row.ID:
		return api.Row{}, conflict("It was taken back", "undo that first")
	case row.Superseded && row.ByHand:
		return api.Row{}, conflict("It was corrected before", fmt.Sprintf("correct what stands now: %s", row.SupersededBy))
	case row.Outdated:
		return api.Row{}, conflict("It is out of date", fmt.Sprintf("a newer summary of its session stands: correct %s", row.SupersededBy))
	case row.Superseded:
		return api.Row{}, conflict("It was observed again", "what it was made of was observed again since: `cmemd why` leads to what stands now")
	}
	return row, by.May(ctx, row)
}

func conflict(title, detail string) error {
	return &refusal.Error{Kind: refusal.Conflict, Title: title, Detail: detail}
}

// inherit fills in what a correction does not say itself.
func inherit(m *api.Memory, row api.Row) {
	if m.Project == "" && m.ProjectRoot == "" {
		m.Project, m.ProjectRoot = row.Project, row.ProjectRoot
	}
	m.Type = cmp.Or(m.Type, row.Type)
	m.Session = cmp.Or(m.Session, row.AgentSession)
	if len(m.Concepts) == 0 {
		m.Concepts = row.Concepts
	}
	if len(m.Files) == 0 {
		m.Files = slices.Concat(row.FilesModified, row.FilesRead, row.FilesUnverified)
		m.Files = m.Files[:min(len(m.Files), MaxList)]
	}
}

// Undo takes a saved memory or a correction back, or undoes that. Text is the beginning of its id.
func (c *Curator) Undo(ctx context.Context, text string, by By) (api.Undone, error) {
	release, err := c.begin(ctx)
	if err != nil {
		return api.Undone{}, err
	}
	defer release()
	row, err := c.undoable(ctx, text)
	if err != nil {
		return api.Undone{}, err
	}
	if err := by.May(ctx, row); err != nil {
		return api.Undone{}, err
	}
	u, err := c.undo(ctx, row, by.Writer)
	if err != nil {
		return api.Undone{}, err
	}
	_, u.out.Position, err = c.append(ctx, c.cfg.Now(), u.decided...)
	return u.out, err
}

// undoable is the memory that text means: itself, or the one that took the place of the row that it names.
func (c *Curator) undoable(ctx context.Context, text string) (api.Row, error) {
	id, err := c.cfg.Resolve(ctx, text)
	if err != nil {
		return api.Row{}, err
	}
	for range 1000 { // corrections of corrections
		row, err := c.cfg.Views.Row(ctx, id)
		switch {
		case err != nil:
			return api.Row{}, err
		case row.Forgotten:
			return api.Row{}, conflict("It was forgotten", "forgetting is final: the words are gone")
		case row.ByHand && row.SupersededBy != row.ID:
			id = row.SupersededBy
			continue
		case row.Kind == rows.Memory && row.FoldedInto != (events.ID{}):
			id = row.FoldedInto // it says the same again
			continue
		case row.Kind != rows.Memory:
			return api.Row{}, conflict("There is nothing to undo", "only what was saved or corrected by hand is undone; `cmemd forget` erases")
		}
		return row, nil
	}
	return api.Row{}, errors.New("curation: corrections go round in a circle")
}

// undoing is what an undo decides.
type undoing struct {
	by      events.Writer
	out     api.Undone
	decided []events.Event
}

// undo takes back m, which stands, and what says the same, or lets them stand again where they were taken back; what m corrected
// stands where it does not.
func (c *Curator) undo(ctx context.Context, m api.Row, by events.Writer) (*undoing, error) {
	u := &undoing{by: by, out: api.Undone{Restored: []events.ID{}, Withdrawn: []events.ID{}}}
	same, err := c.cfg.Views.Same(ctx, m)
	if err != nil {
		return nil, err
	}
	old, err := c.correctedBy(ctx, m.ID)
	if err != nil {
		return nil, err
	}
	again := m.Superseded
	for _, id := range append([]events.ID{m.ID}, same...) {
		if again {
			u.restore(id)
		} else {
			u.withdraw(id, m.ID)
		}
	}
	for _, id := range old {
		if slices.Contains(same, id) {
			continue
		}
		row, err := c.cfg.Views.Row(ctx, id)
		if errors.Is(err, engine.ErrNotFound) || err == nil && row.Forgotten {
			continue
		}
		if err != nil {
			return nil, err
		}
		switch {
		case again && !row.ByHand:
			u.withdraw(id, m.ID)
		case !again && row.ByHand && row.SupersededBy == m.ID:
			u.restore(id)
		}
	}
	return u, nil
}

func (u *undoing) withdraw(id, by events.ID) {
	u.out.Withdrawn = append(u.out.Withdrawn, id)
	u.decided = append(u.decided, events.MemorySuperseded{Memory: id, By: by, Writer: u.by})
}

func (u *undoing) restore(id events.ID) {
	u.out.Restored = append(u.out.Restored, id)
	u.decided = append(u.decided, events.MemorySuperseded{Memory: id, Writer: u.by})
}

// correctedBy lists the rows whose place a memory ever took, in order.
func (c *Curator) correctedBy(ctx context.Context, id events.ID) (old []events.ID, err error) {
	for m, err := range eventlog.EventsOfAll[events.MemorySuperseded](ctx, c.cfg.Log, events.Daemon) {
		if err != nil {
			return nil, err
		}
		if m.Event.By == id && m.Event.Memory != id && !slices.Contains(old, m.Event.Memory) {
			old = append(old, m.Event.Memory)
		}
	}
	return old, nil
}
