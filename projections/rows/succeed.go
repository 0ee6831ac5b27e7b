package rows

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// succeed has a new row take the place of the newest of its session, or finds it outdated.
func (f *fold) succeed(row *Row) {
	if !row.succeeds() {
		return
	}
	key := engine.SessionKey(row.Session)
	if id, ok := newestTable().Get(f.x, key); ok {
		last := f.member(events.ID(id))
		if row.Outdated = last.outranks(*row); row.Outdated {
			return
		}
		f.unlist(last)
		last.Outdated = true
		f.put(last)
	}
	newestTable().Put(f.x, key, engine.Ref(row.ID))
}

// refreshNewest finds the newest of a session again after one of its rows has changed or gone.
func (f *fold) refreshNewest(session events.SessionID) {
	if f.kind != Summary {
		return
	}
	var rows []Row
	key := engine.SessionKey(session)
	for _, ref := range bySessionTable().From(f.x, key, key) {
		rows = append(rows, f.member(events.ID(ref)))
	}
	first := newest(rows)
	for i, row := range rows {
		if outdated := row.succeeds() && i != first; outdated != row.Outdated {
			f.outdate(row, outdated)
		}
	}
	if first < 0 {
		newestTable().Delete(f.x, key)
		return
	}
	newestTable().Put(f.x, key, engine.Ref(rows[first].ID))
}

func (f *fold) outdate(row Row, outdated bool) {
	f.unlist(row)
	row.Outdated = outdated
	f.list(row)
	f.put(row)
}
