package rows

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// RecentFilter chooses listed rows. The zero value chooses all.
type RecentFilter struct {
	ProjectRoot string // empty: of all projects
	Kinds       []Kind // empty: of all kinds
	Since       time.Time
	Match       func(Row) bool // nil: every row
	Limit       int            // 0 means 20
	Done        func() bool    // asked behind every row, whether it matches or not: to stop. nil: stop at Limit
}

// Recent returns the chosen rows, newest first by the time at which they happened. It reads no more than it must:
// its cost depends on Limit, Match and Done, not on how many rows there are.
func (v Reader) Recent(ctx context.Context, f RecentFilter) ([]Row, error) {
	if f.Limit <= 0 {
		f.Limit = 20
	}
	w := walk{lists: listsNamed(f.ProjectRoot), kinds: f.Kinds, from: maxPlace(), back: true}
	var rows []Row
	err := v.walk(ctx, w, func(row Row) bool {
		if row.At.Before(f.Since) {
			return false
		}
		if f.Match == nil || f.Match(row) {
			rows = append(rows, row)
		}
		return len(rows) < f.Limit && (f.Done == nil || !f.Done())
	})
	return rows, err
}

// EntryFilter says which rows of entries are read. The zero value chooses all, as they are now.
type EntryFilter struct {
	PromptOnly bool                         // and not the observations
	AsOf       events.Position              // as they stood at that record, as RowsAsOf has it; 0: now
	At         time.Time                    // with AsOf: when that was recorded
	Match      func(entry int, r *Row) bool // whether a row of the entry of that number is chosen; nil: every one is
	Limit      int                          // how many are chosen of each entry; 0: all
}

// RowsOfEntries returns the chosen rows of each entry that is a prompt's, the prompt first, then in the order of the log; those that are
// not listed too. It reads no more of an entry than it must.
func (v Reader) RowsOfEntries(ctx context.Context, f EntryFilter, entries ...Entry) ([][]*Row, error) {
	found := make([][]*Row, len(entries))
	kinds := []Kind{Prompt, Observation}
	if f.PromptOnly {
		kinds = kinds[:1]
	}
	err := v.Views.Read(ctx, func(r *engine.ReadTx) {
		books := viewTxsIn(r, kinds...)
		for n, e := range entries {
			if e.Prompt > 0 {
				found[n] = f.read(books, n, e)
			}
		}
	})
	return found, err
}

// read reads the chosen rows of one entry.
func (f EntryFilter) read(books []viewTx, n int, e Entry) (found []*Row) {
	for _, b := range books {
		for _, id := range byPromptTable().From(b.x, e.key(), e.key()) {
			row := new(Row)
			if !b.read(id[:], row) {
				continue
			}
			if f.AsOf > 0 {
				*row = groupedAsOf(books, *row, f.AsOf, f.At)
			}
			if f.Match != nil && !f.Match(n, row) {
				continue
			}
			if found = append(found, row); len(found) == f.Limit {
				return found
			}
		}
	}
	return found
}

// Anchor is a place in time: that of a row or, with a zero Position, a moment. With a Position alone it is the time of
// that record.
type Anchor struct {
	At       time.Time
	Position events.Position
}

// Around returns the listed rows on either side of a place in a project, or in all if root is empty: at most before
// and after of them, each oldest first. What lies exactly at the anchor is in neither. The error is engine.ErrNotFound for a
// position without a record.
func (v Reader) Around(ctx context.Context, a Anchor, before, after int, root string) (older, newer []Row, err error) {
	if a.At.IsZero() && a.Position != 0 {
		r, err := v.Log.Get(ctx, a.Position)
		if err != nil {
			return nil, nil, engine.NotFound(err)
		}
		a.At = r.OccurredAt
	}
	w := walk{lists: listsNamed(root), from: placeKey(a.At, a.Position), back: true}
	if older, err = v.collect(ctx, w, before); err != nil {
		return nil, nil, err
	}
	slices.Reverse(older)
	w = walk{lists: w.lists, from: placeKey(a.At, a.Position+1)}
	newer, err = v.collect(ctx, w, after)
	return older, newer, err
}

func (v Reader) collect(ctx context.Context, w walk, limit int) ([]Row, error) {
	var rows []Row
	if limit <= 0 {
		return nil, ctx.Err()
	}
	err := v.walk(ctx, w, func(row Row) bool {
		rows = append(rows, row)
		return len(rows) < limit
	})
	return rows, err
}

// listsNamed is the list of a project's root, or that of everything if root is empty.
func listsNamed(root string) []engine.ProjectID {
	if root == "" {
		return []engine.ProjectID{{}}
	}
	return []engine.ProjectID{engine.ProjectIDOf(root)}
}

// placeKey is a place in the order of a list: a key without the list that it begins with.
func placeKey(at time.Time, p events.Position) []byte {
	return placeOf(engine.TimeKey(engine.ProjectID{}, at, p))
}

// placeOf is where in its list a key is.
func placeOf(key []byte) []byte { return key[len(engine.ProjectID{}):] }

// maxPlace is past every place of a list.
func maxPlace() []byte { return bytes.Repeat([]byte{0xff}, 17) }

// walk is a way through lists of rows of several kinds in the order of time.
type walk struct {
	lists []engine.ProjectID
	kinds []Kind
	from  []byte // a place; going back: not itself; else itself too
	back  bool
}

// walk calls each for the rows on the way until it returns false, in transactions of at most engine.ReadSlice rows.
func (v Reader) walk(ctx context.Context, w walk, each func(Row) bool) error {
	for {
		err := v.Views.Read(ctx, func(r *engine.ReadTx) {
			books, from := viewTxsIn(r, w.kinds...), w.from
			w.from = merge(books, w, each)
			if w.from != nil && (bytes.Compare(w.from, from) < 0) != w.back {
				books[0].x.Fail(engine.Damaged("keys of a list are out of order"))
			}
		})
		if err != nil || w.from == nil {
			return err
		}
	}
}

// merge passes rows to each, and returns where to go on; nil when there is no need to.
func merge(books []viewTx, w walk, each func(Row) bool) (next []byte) {
	lanes := openListCursors(books, w)
	for range engine.ReadSlice {
		l := first(lanes, w.back)
		if l == nil {
			return nil
		}
		next = bytes.Clone(placeOf(l.key))
		row, ok := l.row()
		if !ok || !each(row) {
			return nil
		}
		l.step(w.back)
	}
	if !w.back {
		next = append(next, 0)
	}
	return next
}

// listCursor is the way through one list of one kind.
type listCursor struct {
	view     viewTx
	list     engine.ProjectID
	cursor   *engine.Cursor
	key, raw []byte // nil: at the end
}

func openListCursors(books []viewTx, w walk) []*listCursor {
	var lanes []*listCursor
	for _, b := range books {
		for _, list := range w.lists {
			l, from := &listCursor{view: b, list: list, cursor: byTimeTable().Cursor(b.x)}, slices.Concat(list[:], w.from)
			if w.back {
				l.key, l.raw = l.cursor.Before(from)
			} else {
				l.key, l.raw = l.cursor.Seek(from)
			}
			l.check()
			lanes = append(lanes, l)
		}
	}
	return lanes
}

// row is the row that the lane has come to.
func (l *listCursor) row() (Row, bool) {
	if len(l.raw) != len(engine.Ref{}) {
		l.view.x.Fail(engine.Damaged("list of %s: %x", l.view.kind, l.raw))
		return Row{}, false
	}
	row := l.view.row(engine.Ref(l.raw))
	return row, l.view.x.Err() == nil
}

func (l *listCursor) step(back bool) {
	if back {
		l.key, l.raw = l.cursor.Prev()
	} else {
		l.key, l.raw = l.cursor.Next()
	}
	l.check()
}

func (l *listCursor) check() {
	if !bytes.HasPrefix(l.key, l.list[:]) {
		l.key, l.raw = nil, nil
	}
}

// first is the lane whose row comes next, or nil.
func first(lanes []*listCursor, back bool) *listCursor {
	var best *listCursor
	for _, l := range lanes {
		if l.key == nil {
			continue
		}
		if best == nil || (bytes.Compare(placeOf(l.key), placeOf(best.key)) > 0) == back {
			best = l
		}
	}
	return best
}
