package rows

import (
	"cmp"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// A session has one summary: each of its turns for one sums up all of the session, so that of those that there are the newest
// stands, and the others are superseded by it. The newest is that of the latest stop, whenever it was written; one that is flagged
// stands only where no other does. Which one it is follows from the rows that there are: when the newest is forgotten, or its turn
// is replaced, the one before it stands again. What a person put in the place of the newest keeps that place. A summary that was
// imported is of one request alone, and stands beside.

// succeeds reports whether r is one of the summaries of its session of which the newest stands.
func (r Row) succeeds() bool {
	return r.Kind == Summary && r.Source == "" && !r.Session.IsZero() && (!r.Superseded || r.ByHand)
}

// outranks reports whether r stands rather than other.
func (r Row) outranks(other Row) bool {
	if r.Flagged != other.Flagged {
		return other.Flagged
	}
	return cmp.Or(r.At.Compare(other.At), cmp.Compare(r.Position, other.Position)) > 0
}

// newest returns which of rows stands; -1: none of them succeeds another.
func newest(rows []Row) int {
	best := -1
	for i, row := range rows {
		if row.succeeds() && (best < 0 || row.outranks(rows[best])) {
			best = i
		}
	}
	return best
}

func newestTable() engine.Table[engine.Ref] { return engine.Table[engine.Ref]{Name: "newest"} }

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

// renew finds the newest of a session again after one of its rows has changed or gone.
func (f *fold) renew(session events.SessionID) {
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

// get is a row as readers know it: one that is outdated is superseded by the newest of its session.
func (b book) get(key []byte) (Row, bool) {
	row, ok := rowTable().Get(b.x, key)
	if ok && row.Outdated && !row.Superseded {
		id, _ := newestTable().Get(b.x, engine.SessionKey(row.Session))
		row.Superseded, row.SupersededBy = true, events.ID(id)
	}
	return row, ok
}

// succeededAsOf is then, a row as of the record of a position, with the summary of its session that stood at that record.
func (b book) succeededAsOf(then Row, p events.Position, at time.Time) Row {
	var rows []Row
	for row := range b.session(then.Session) {
		if row.Position <= p {
			rows = append(rows, row.AsOf(p, at))
		}
	}
	then.Outdated = false
	if i := newest(rows); i >= 0 && rows[i].ID != then.ID {
		then.Outdated = true
		if !then.Superseded {
			then.Superseded, then.SupersededBy = true, rows[i].ID
		}
	}
	return then
}

// outdated are the summaries of a session whose place the newest took, the last maxOutdated.
func (b book) outdated(session events.SessionID) (rows []Row) {
	for row := range b.session(session) {
		if row.Outdated {
			rows = append(rows, row)
		}
	}
	return rows[max(0, len(rows)-maxOutdated):]
}

// maxOutdated is how many summaries of a session are told of whose place the newest took.
const maxOutdated = 20
