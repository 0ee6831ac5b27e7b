package rows

import (
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

type fold struct {
	View
	x      *engine.Tx
	facts  engine.FactsCache
	turnOf *engine.Cache[events.ID, turnState]
	inputs *engine.Cache[events.Position, inputState]
}

func (f *fold) get(id events.ID) (Row, bool) { return rowTable().Get(f.x, engine.IDKey(id)) }

// member is a row that another table names.
func (f *fold) member(id events.ID) Row {
	row, ok := f.get(id)
	if !ok {
		f.x.Fail(engine.Damaged("view %s: no row %s, which another table names", f.names, id))
	}
	return row
}

func (f *fold) put(row Row) {
	was, _ := f.get(row.ID)
	f.review(was, row)
	rowTable().Put(f.x, engine.IDKey(row.ID), row)
}

// review enters a row, which was another before, in the lists of its states.
func (f *fold) review(was, row Row) {
	before, after := stateLists(was), stateLists(row)
	for _, list := range before {
		if !slices.Contains(after, list) {
			byTimeTable().Delete(f.x, engine.TimeKey(list, was.At, was.Position))
		}
	}
	for _, list := range after {
		if !slices.Contains(before, list) {
			byTimeTable().Put(f.x, engine.TimeKey(list, row.At, row.Position), engine.Ref(row.ID))
		}
	}
}

// list enters the row in the lists by time, if it belongs there.
func (f *fold) list(row Row) {
	if !row.Listed() {
		return
	}
	for _, project := range listsOf(row) {
		byTimeTable().Put(f.x, engine.TimeKey(project, row.At, row.Position), engine.Ref(row.ID))
	}
}

func (f *fold) unlist(row Row) {
	for _, project := range listsOf(row) {
		byTimeTable().Delete(f.x, engine.TimeKey(project, row.At, row.Position))
	}
}

// listsOf names the lists that a row is in: that of everything, and its project's.
func listsOf(row Row) []engine.ProjectID {
	if row.ProjectRoot == "" {
		return []engine.ProjectID{{}}
	}
	return []engine.ProjectID{{}, engine.ProjectIDOf(row.ProjectRoot)}
}
