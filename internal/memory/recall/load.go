package recall

import (
	"context"
	"slices"

	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// How many of the newest rows of each kind that may be injected are weighed.
	newestObservations = 120
	newestSummaries    = 12
	newestMemories     = 60
	newestPrompts      = 6
	newestFiles        = 24

	// maxScanned is how many of the newest rows of each kind, and in each of the project's folders, are looked at for them, and
	// maxKnown how many that were there when the session was last given memory: hardly any that came since is older than these.
	maxScanned = 2000
	maxKnown   = 240
)

// load reads the rows that may be injected.
func (c *chooser) load(ctx context.Context) error {
	if err := c.loadPlace(ctx); err != nil {
		return err
	}
	switch c.ask.Source {
	case SourcePrompt:
		return c.loadPrompt(ctx)
	case SourceFile:
		return c.loadFile(ctx)
	case "resume":
		c.since = c.given.Knew
	}
	kinds := []struct {
		kind  rows.Kind
		limit int
	}{
		{rows.Summary, newestSummaries}, {rows.Memory, newestMemories},
		{rows.Observation, newestObservations}, {rows.Prompt, newestPrompts},
	}
	for _, k := range kinds {
		if err := c.loadKind(ctx, k.kind, k.limit); err != nil {
			return err
		}
	}
	return c.loadFiles(ctx)
}

// loadPlace finds the project's folders, and what the session was given last.
func (c *chooser) loadPlace(ctx context.Context) (err error) {
	if c.ask.ProjectRoot != "" {
		if c.own, err = c.recall.cfg.Views.Extent(ctx, c.ask.ProjectRoot, c.ask.ProjectKey); err != nil {
			return err
		}
	}
	if !c.ask.Session.IsZero() {
		c.given, err = c.recall.cfg.Views.Injected(ctx, c.ask.Session)
	}
	return err
}

// loadKind reads the newest rows of one kind that may be injected: from the lists of the project's folders, and those that have
// no root and a name of its own, which no folder's list has, from the index.
func (c *chooser) loadKind(ctx context.Context, kind rows.Kind, limit int) error {
	var found []*rows.Row
	for _, root := range c.own.Roots {
		s := &scan{chooser: c, others: limit}
		rows, err := c.recall.cfg.Views.Recent(ctx, rows.RecentFilter{
			ProjectRoot: root, Kinds: []rows.Kind{kind}, Limit: limit, Match: s.fit, Done: s.done,
		})
		if err != nil {
			return err
		}
		found = appendEach(found, rows)
	}
	named, err := c.named(ctx, kind, limit)
	if err != nil {
		return err
	}
	found = appendEach(found, named)
	slices.SortStableFunc(found, func(a, b *rows.Row) int { return stampOf(b).compare(stampOf(a)) })
	c.rows = append(c.rows, found[:min(len(found), limit)]...)
	return nil
}

// appendEach appends the address of each row of a list.
func appendEach(all []*rows.Row, list []rows.Row) []*rows.Row {
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// scan is one pass over rows that may be injected, the newest first.
type scan struct {
	*chooser
	others         int // that may not be injected, and are still to be kept to say why not
	scanned, known int
}

// fit reports whether a row may be injected.
func (s *scan) fit(row rows.Row) bool {
	s.scanned++
	if row.Position <= s.since {
		s.known++
	}
	if s.unfitReason(row) == "" {
		return true
	}
	if row.IsUndone() {
		s.undone = append(s.undone, row)
	}
	if s.ask.Explain && s.others > 0 {
		kept := row
		s.rows = append(s.rows, &kept)
		s.others--
	}
	return false
}

// done reports whether enough was looked at, whatever was found.
func (s *scan) done() bool { return s.scanned >= maxScanned || s.known >= maxKnown }

// named reads the newest fit rows of one kind of all projects of the name; if there is a root, those that have none and one of the
// project's names.
func (c *chooser) named(ctx context.Context, kind rows.Kind, limit int) ([]rows.Row, error) {
	k, _ := indexKind(kind)
	q := index.Query{Project: c.ask.Project, Kinds: []index.Kind{k}}
	if len(c.own.Roots) > 0 {
		q.Project, q.Rootless = "", c.own.Names
	}
	if q.Project == "" && len(q.Rootless) == 0 {
		return nil, nil
	}
	s := &scan{chooser: c, others: limit}
	return c.recall.listed(ctx, q, limit, s.fit, s.done)
}

// loadFiles reads which of the project's files were changed last.
func (c *chooser) loadFiles(ctx context.Context) error {
	for _, root := range c.own.Roots {
		files, err := c.recall.cfg.Views.Files(ctx, files.Filter{
			ProjectRoot: root, ModifiedOnly: true, Limit: newestFiles, Touches: 3,
		})
		if err != nil {
			return err
		}
		c.files = append(c.files, files...)
	}
	order.By(c.files, func(a, b files.File) int { return b.LastAt.Compare(a.LastAt) })
	c.files = slices.CompactFunc(c.files, func(a, b files.File) bool { return a.Path == b.Path })
	c.files = c.files[:min(len(c.files), newestFiles)]
	return nil
}
