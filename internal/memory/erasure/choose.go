package erasure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/projects"
	"github.com/cmemd/cmemd/projections/rows"
)

// choice is what a request names, stream by stream, before what follows from it.
type choice struct {
	e        *Eraser
	req      Request
	words    words
	own      projects.Extent // of the project
	through  events.Position
	named    map[events.StreamID]*reach
	projects map[events.StreamID]bool // whether its session is of the project, as its openings say
	rows     set                      // named by id
}

// Plan says what a request chooses. It changes nothing. Errors: ErrNothingNamed, ErrShortQuery, those of the log and of the
// views, engine.ErrNotFound for an id that names no row.
func (e *Eraser) Plan(ctx context.Context, req Request) (Plan, error) {
	c, err := e.choose(ctx, req)
	if err != nil {
		return Plan{}, err
	}
	return c.plan(ctx)
}

func (e *Eraser) choose(ctx context.Context, req Request) (*choice, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	c := &choice{
		e: e, req: req, words: newWords(req.Query), through: req.Through, named: map[events.StreamID]*reach{},
		projects: map[events.StreamID]bool{}, rows: set{},
	}
	last, err := e.cfg.Log.Last(ctx)
	if err != nil {
		return nil, err
	}
	if c.through == 0 || c.through > last {
		c.through = last
	}
	if err := c.project(ctx); err != nil {
		return nil, err
	}
	if err := c.ids(ctx); err != nil {
		return nil, err
	}
	return c, c.scan(ctx)
}

// project finds the folders that are the project's.
func (c *choice) project(ctx context.Context) error {
	if c.req.Project == "" {
		return nil
	}
	key := c.req.Project
	if filepath.IsAbs(c.req.Project) {
		key = c.req.ProjectKey
	}
	var err error
	c.own, err = c.e.cfg.Views.WholeExtent(ctx, c.req.Project, key)
	return err
}

// ids finds the records of the rows that are named, and of those that are one with them: the same said again, corrections.
func (c *choice) ids(ctx context.Context) error {
	rows := map[events.ID]rows.Row{}
	if len(c.req.IDs) > 0 {
		corrected, err := corrections(ctx, c.e.whole)
		if err != nil {
			return err
		}
		for _, id := range c.req.IDs {
			if err := c.e.versions(ctx, id, corrected, rows); err != nil {
				return err
			}
		}
	}
	for _, row := range rows {
		if row.Position != 0 && !row.Forgotten {
			c.rows[row.Position] = true
		}
	}
	return nil
}

// scan reads the log and names what the conditions choose.
func (c *choice) scan(ctx context.Context) error {
	if len(c.req.Positions) > 0 {
		return c.scanPositions(ctx)
	}
	if len(c.req.IDs) > 0 {
		return c.scanRows(ctx)
	}
	for r, err := range c.e.cfg.Log.All(ctx, 1) {
		if err != nil {
			return err
		}
		if r.Position > c.through {
			break
		}
		if err := c.take(r); err != nil {
			return err
		}
	}
	return nil
}

// scanRows names the rows that are named by id, but for those that are forgotten already.
func (c *choice) scanRows(ctx context.Context) error {
	for _, p := range slices.Sorted(maps.Keys(c.rows)) {
		r, err := c.e.cfg.Log.Get(ctx, p)
		if err != nil {
			return err
		}
		if err := errors.Join(c.take(r), c.openings(ctx, r.Stream)); err != nil {
			return err
		}
	}
	return nil
}

// scanPositions names the records that the request names by position and that have words still.
func (c *choice) scanPositions(ctx context.Context) error {
	for _, p := range c.req.Positions {
		r, err := c.e.cfg.Log.Get(ctx, p)
		if err != nil {
			return err
		}
		if erasable(r) {
			n := c.reach(r.Stream)
			n.others = append(n.others, p)
		}
	}
	return nil
}

// openings learns the project of one stream.
func (c *choice) openings(ctx context.Context, stream events.StreamID) error {
	if c.req.Project == "" || c.projects[stream] {
		return nil
	}
	for r, err := range c.e.cfg.Log.Stream(ctx, stream, 1) {
		if err == nil && r.Kind == events.KindSessionOpened {
			err = c.take(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take names r if the conditions choose it.
func (c *choice) take(r events.Record) error {
	if r.Kind == events.KindSessionOpened && c.req.Project != "" {
		return c.learn(r)
	}
	session, ofSession := r.Stream.Session()
	if ofSession && c.req.ofSession() && session != c.req.Session {
		return nil
	}
	if !erasable(r) || !c.req.within(r.OccurredAt) && r.Kind != events.KindMemorySaved {
		return nil
	}
	if len(c.req.IDs) > 0 && !c.rows[r.Position] {
		return nil
	}
	if ofSession && c.req.everything() {
		c.reach(r.Stream).whole = true
		return nil
	}
	if r.Kind == events.KindMemorySaved || c.req.Query != "" {
		ok, err := c.says(r)
		if err != nil || !ok {
			return err
		}
	}
	c.name(r)
	return nil
}

// learn notes whether a session is of the project.
func (c *choice) learn(r events.Record) error {
	e, err := said(r)
	if o, ok := e.(events.SessionOpened); ok && c.ofProject(o.Project, o.ProjectRoot) {
		c.projects[r.Stream] = true
	}
	return err
}

// ofProject reports whether what has that name and root is of the project, as searches go by it: a name counts where the project is
// named by it, or a person gave it to the project and there is no root.
func (c *choice) ofProject(name, root string) bool {
	if !filepath.IsAbs(c.req.Project) && name == c.req.Project {
		return true
	}
	if root == "" {
		return slices.Contains(c.own.Names, name)
	}
	return slices.Contains(c.own.Roots, root)
}

// says looks into what r says: for the text, and in a saved memory for what else the conditions are about.
func (c *choice) says(r events.Record) (bool, error) {
	e, err := r.Event()
	if err != nil {
		return false, fmt.Errorf("erasure: %w", err)
	}
	if m, ok := e.(events.MemorySaved); ok {
		bySession := !c.req.ofSession() || m.Session != "" && (m.Session == c.req.Named || m.Session == c.req.Session.String())
		byProject := c.req.Project == "" || c.ofProject(m.Project, m.ProjectRoot)
		if !bySession || !byProject || !c.req.within(m.At) {
			return false, nil
		}
	}
	return c.req.Query == "" || c.words.in(e), nil
}

// name notes how far what r names reaches.
func (c *choice) name(r events.Record) {
	byID, byTime := len(c.req.IDs) > 0, len(c.req.IDs) == 0 && c.req.Query == ""
	if byTime && (r.Correlation != (events.ID{}) || r.Kind == events.KindClaimChecked) {
		return // what turns said goes with what it was made of, and a later look with the row
	}
	n := c.reach(r.Stream)
	switch {
	case byID && (r.Kind == events.KindObservationParsed || r.Kind == events.KindSummaryParsed || r.Kind == events.KindPreferenceStated):
		n.rows = append(n.rows, r.Position)
	case byID && r.Kind == events.KindPromptSubmitted:
		n.prompts = append(n.prompts, r.Position)
	default: // by its words: what it was made of says them itself, or does not say them
		n.others = append(n.others, r.Position)
	}
}

// reach is that of a stream.
func (c *choice) reach(stream events.StreamID) *reach {
	n := c.named[stream]
	if n == nil {
		n = &reach{origins: len(c.req.IDs) > 0}
		c.named[stream] = n
	}
	return n
}

// shares finds what goes: what is named, and what follows from it.
func (c *choice) shares(ctx context.Context) (all []Share, stays []events.Position, err error) {
	for stream, named := range c.named {
		if _, ofSession := stream.Session(); ofSession && c.req.Project != "" && !c.projects[stream] {
			continue
		}
		g, err := readGraph(ctx, c.e.cfg.Log, stream)
		if err != nil {
			return nil, nil, err
		}
		if named.whole {
			named = &reach{others: g.words(c.through)}
		}
		if gone := g.follow(*named); len(gone) > 0 {
			stays = append(stays, g.stays(gone)...)
			all = append(all, c.e.byLog(g.share(gone), g)...)
		}
	}
	order.By(all, func(a, b Share) int { return cmp.Compare(a.Positions[0], b.Positions[0]) })
	return all, stays, nil
}

// versions adds to rows the row of that id and all its versions: rows of its session that say the same, and the rows that corrected it
// or were corrected by it, which corrected lists by id.
func (e *Eraser) versions(ctx context.Context, id events.ID, corrected map[events.ID][]events.ID, rows map[events.ID]rows.Row) error {
	if _, known := rows[id]; known {
		return nil
	}
	row, err := e.cfg.Views.Row(ctx, id)
	if err != nil {
		return err
	}
	rows[id] = row
	same, err := e.cfg.Views.Same(ctx, row)
	if err != nil {
		return err
	}
	for _, other := range slices.Concat(same, corrected[id]) {
		if err := e.versions(ctx, other, corrected, rows); err != nil && !errors.Is(err, engine.ErrNotFound) {
			return err
		}
	}
	return nil
}

// corrections lists, for each memory, those that ever took its place, and those whose place it ever took.
func corrections(ctx context.Context, log eventlog.Log) (map[events.ID][]events.ID, error) {
	others := map[events.ID][]events.ID{}
	for s, err := range eventlog.EventsOfAll[events.MemorySuperseded](ctx, log, events.Daemon) {
		if err != nil {
			return nil, fmt.Errorf("erasure: %w", err)
		}
		if memory, by := s.Event.Memory, s.Event.By; by != memory && by != (events.ID{}) {
			others[memory] = append(others[memory], by)
			others[by] = append(others[by], memory)
		}
	}
	return others, nil
}
