package rows

import (
	"bytes"
	"context"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// ListFilter chooses rows in the order of the time at which they happened.
type ListFilter struct {
	Roots  []string // of a project; none: all
	State  State    // empty: those that are listed
	Kinds  []Kind   // none: all
	Since  time.Time
	Until  time.Time // or at it
	Oldest bool      // first; else the newest
	From   Place     // behind it; the zero Place: from the beginning
	Match  func(Row) bool
	Limit  int // rows
	Looked int // rows that are looked at, at most
}

// Place is where in a list a row stands, whatever comes and goes around it.
type Place struct {
	At       time.Time
	Position events.Position
}

// ListRows returns the chosen rows, and where to go on; the zero Place: there are no more. It reads Limit rows and one, or Looked where few
// match: then it goes on behind rows that it does not return.
func (v Reader) ListRows(ctx context.Context, f ListFilter) (found []Row, next Place, err error) {
	w := walk{lists: f.lists(), kinds: f.Kinds, from: f.from(), back: !f.Oldest}
	looked, last := 0, Place{}
	err = v.walk(ctx, w, func(row Row) bool {
		if f.beyond(row) {
			return false
		}
		if len(found) == f.Limit || looked == f.Looked {
			next = last
			return false
		}
		looked++
		last = Place{row.At, row.Position}
		if f.Match == nil || f.Match(row) {
			found = append(found, row)
		}
		return true
	})
	return found, next, err
}

func (f ListFilter) lists() (lists []engine.ProjectID) {
	roots := f.Roots
	if len(roots) == 0 {
		roots = []string{""}
	}
	for _, root := range roots {
		if f.State != "" {
			lists = append(lists, stateListID(f.State, root))
		} else {
			lists = append(lists, listsNamed(root)...)
		}
	}
	return lists
}

// from is the place at which the way begins.
func (f ListFilter) from() []byte {
	switch {
	case f.Oldest && f.From != Place{}:
		return placeKey(f.From.At, f.From.Position+1)
	case f.Oldest && !f.Since.IsZero():
		return placeKey(f.Since, 0)
	case f.Oldest:
		return nil
	case f.From != Place{}:
		return placeKey(f.From.At, f.From.Position)
	case !f.Until.IsZero():
		return placeKey(f.Until.Add(1), 0)
	}
	return maxPlace()
}

// beyond reports whether the way has come to where nothing is chosen any more.
func (f ListFilter) beyond(row Row) bool {
	if f.Oldest {
		return !f.Until.IsZero() && row.At.After(f.Until)
	}
	return row.At.Before(f.Since)
}

// CountStates is how many rows there are in each state, of some roots, or of all if there are none: at most so many, of each kind and root.
func (v Reader) CountStates(ctx context.Context, roots []string, kinds []Kind, most int) (map[State]int, error) {
	n := map[State]int{}
	err := v.Views.Read(ctx, func(r *engine.ReadTx) {
		for _, b := range viewTxsIn(r, kinds...) {
			for _, s := range AllStates() {
				for _, list := range (ListFilter{Roots: roots, State: s}).lists() {
					n[s] += countKeys(b, list, most)
				}
			}
		}
	})
	return n, err
}

func countKeys(b viewTx, list engine.ProjectID, most int) (n int) {
	c := byTimeTable().Cursor(b.x)
	for key, _ := c.Seek(list[:]); bytes.HasPrefix(key, list[:]) && n < most; key, _ = c.Next() {
		n++
	}
	return n
}
