package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// newestTouches is how many of the newest touches of a file are looked at, in each of the project's folders, and
	// mostTouches how many if none of these may be injected.
	newestTouches = 40
	mostTouches   = 400

	// What an observation is worth when its file is read: more if it changed the file, and if the file is one of few.
	weightChanged = 1.5
	weightFew     = 1.5 // of at most fewFiles
	weightSome    = 1.2 // of at most someFiles
	fewFiles      = 3
	someFiles     = 8
)

// loadFile reads what was observed of the file that is about to be read.
func (c *chooser) loadFile(ctx context.Context) error {
	file := c.relative(c.ask.File)
	if file == "" {
		return nil
	}
	for _, root := range c.own.Roots {
		rows, err := c.touched(ctx, root, file, newestTouches)
		if err == nil && c.allHidden(rows) {
			rows, err = c.touched(ctx, root, file, mostTouches)
		}
		if err != nil {
			return err
		}
		c.rows = appendEach(c.rows, rows)
	}
	return nil
}

// allHidden reports whether none of a file's newest rows may be injected, and an older one perhaps may.
func (c *chooser) allHidden(newest []rows.Row) bool {
	return len(newest) > 0 && !newest[len(newest)-1].At.Before(c.ask.Changed) &&
		!slices.ContainsFunc(newest, func(row rows.Row) bool { return c.unfitReason(row) == "" })
}

// touched reads the rows of the newest touches of a file, so many at most.
func (c *chooser) touched(ctx context.Context, root, file string, limit int) ([]rows.Row, error) {
	touches, err := c.recall.cfg.Views.Touches(ctx, root, file, limit)
	if err != nil {
		return nil, err
	}
	var ids []events.ID
	for _, t := range touches {
		if t.ID != (events.ID{}) {
			ids = append(ids, t.ID)
		}
	}
	return c.recall.cfg.Views.Rows(ctx, ids...)
}

// relative is the file's path as the project keeps it.
func (c *chooser) relative(file string) string {
	for _, root := range c.own.Roots {
		if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); ok {
			return rest
		}
	}
	return file
}
