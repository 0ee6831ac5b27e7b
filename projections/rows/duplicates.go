package rows

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// groupKey is nil for a row that is never folded: an observation without title and narrative, and what was saved by hand.
func groupKey(row Row) []byte {
	if row.Stated() {
		project := engine.ProjectIDOf(cmp.Or(row.ProjectRoot, row.Project))
		return append(project[:], row.Sentence[:]...)
	}
	if row.Kind == Memory {
		return nil
	}
	title, narrative := Normalise(row.Title), Normalise(row.Narrative)
	if title == "" && narrative == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(title + "\x00" + narrative))
	return append(slices.Clone(row.Session[:]), sum[:16]...)
}

// Normalise makes texts equal that differ in letter case and white space alone.
func Normalise(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), unicode.IsSpace), " ")
}

// groupOf is the group that row is in, or would be. ok is false for a row that is in none, and where its group cannot be read.
func (f *fold) groupOf(row Row) (key []byte, g group, ok bool) {
	key = groupKey(row)
	if !f.foldsDuplicates || key == nil || row.Superseded && !row.Stated() {
		return nil, group{}, false
	}
	g, _ = groupTable().Get(f.x, key)
	return key, g, f.x.Err() == nil
}

// joinGroup enters a new row in its group, and folds it if it does not lead.
func (f *fold) joinGroup(row *Row) {
	key, g, ok := f.groupOf(*row)
	if !ok {
		return
	}
	g.Rows = append(g.Rows, row.ID)
	if f.x.Joined {
		f.put(*row)
		f.regroup(key, g)
		*row = f.member(row.ID)
		return
	}
	if len(g.Rows) == 1 {
		g.Lead = row.ID
		groupTable().Put(f.x, key, g)
		return
	}
	lead := f.member(g.Lead)
	if lead.Flagged && !row.Flagged { // the new row leads from now on
		f.put(*row)
		f.regroup(key, g)
		*row = f.member(row.ID)
		return
	}
	lead.Count++
	lead.Turns = withTurn(lead.Turns, row.Turn)
	row.FoldedInto, row.Count = lead.ID, 0
	f.put(lead)
	groupTable().Put(f.x, key, g)
}

// leaveGroup takes a row out of its group and makes the group whole again. The row itself is not written.
func (f *fold) leaveGroup(row Row) {
	key, g, ok := f.groupOf(row)
	if !ok {
		return
	}
	g.Rows = without(g.Rows, row.ID)
	if len(g.Rows) == 0 {
		groupTable().Delete(f.x, key)
		return
	}
	f.regroup(key, g)
}

// regroupRow makes the group of a row, whose flag has changed, whole again.
func (f *fold) regroupRow(row Row) {
	if key, g, ok := f.groupOf(row); ok {
		f.regroup(key, g)
	}
}

// regroup writes a group, and its rows as they are now that one has left, or may lead instead of another.
func (f *fold) regroup(key []byte, g group) {
	if len(g.Rows) == 0 {
		f.x.Fail(engine.Damaged("view %s: the group %x has no rows", f.names, key))
		return
	}
	var rows []Row
	var turns []events.ID
	for _, id := range g.Rows {
		rows = append(rows, f.member(id))
	}
	if f.x.Joined {
		rows = engine.Merge(rows, Row.said)
	}
	for i, row := range rows {
		g.Rows[i], turns = row.ID, withTurn(turns, row.Turn)
	}
	lead := max(0, slices.IndexFunc(rows, func(row Row) bool { return !row.Flagged }))
	g.Lead = g.Rows[lead]
	for n, row := range rows {
		led := row.FoldedInto == events.ID{}
		row.FoldedInto, row.Count, row.Turns = g.Lead, 0, ownTurn(row)
		if n == lead {
			row.FoldedInto, row.Count, row.Turns = events.ID{}, len(rows), turns
		}
		f.relist(row, led)
		f.put(row)
	}
	groupTable().Put(f.x, key, g)
}

// relist brings a row into the lists by time, or out of them if it was there and leads no more.
func (f *fold) relist(row Row, led bool) {
	if led && !row.Listed() {
		f.unlist(row)
	} else {
		f.list(row)
	}
}

// without returns ids without id, as a list of its own.
func without(ids []events.ID, id events.ID) []events.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(other events.ID) bool { return other == id })
}
