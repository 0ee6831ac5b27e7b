package rows

import (
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// What an agent wants forgotten is not erased. Its rows leave the lists, so that nobody is shown what may be a leaked key, and come
// back when a person refuses, or nobody has answered for too long. So do rows that a turn makes later of the records that are named.
// Nothing else of them changes: whatever says the same in a group is named by the request too, or goes on standing.

// hide takes the rows of a request out of the lists. A request may come in several events.
func (f *fold) hide(r *engine.Record, e events.ForgetRequested) {
	key := engine.IDKey(e.Request)
	open, _ := requestTable().Get(f.x, key)
	open.IDs = append(open.IDs, e.IDs...)
	if f.turns {
		open.Positions = append(open.Positions, e.Positions...)
		for _, p := range e.Positions {
			by, _ := openRequestTable().Get(f.x, engine.PositionKey(p))
			by.Requests = append(by.Requests, e.Request)
			openRequestTable().Put(f.x, engine.PositionKey(p), by)
		}
	}
	requestTable().Put(f.x, key, open)
	for _, id := range e.IDs {
		if f.x.Joined {
			f.decideOn(r, id, decision{Asked: e.Request})
			continue
		}
		if row, ok := f.get(id); ok && !slices.Contains(row.ForgetRequests, e.Request) {
			f.unlist(row)
			row.ForgetRequests = append(slices.Clip(row.ForgetRequests), e.Request)
			f.put(row)
		}
	}
}

// unhide lists the rows of a request again that no other names. What was approved is gone by then.
func (f *fold) unhide(_ *engine.Record, e events.ForgetSettled) {
	key := engine.IDKey(e.Request)
	open, _ := requestTable().Get(f.x, key)
	requestTable().Delete(f.x, key)
	for _, p := range open.Positions {
		by, _ := openRequestTable().Get(f.x, engine.PositionKey(p))
		if by.Requests = without(by.Requests, e.Request); len(by.Requests) > 0 {
			openRequestTable().Put(f.x, engine.PositionKey(p), by)
			continue
		}
		openRequestTable().Delete(f.x, engine.PositionKey(p))
	}
	for _, id := range slices.Concat(open.IDs, open.Made) {
		if row, ok := f.get(id); ok {
			row.ForgetRequests = without(row.ForgetRequests, e.Request)
			f.list(row)
			f.put(row)
		}
	}
}

// wanted are the open requests that name any of these records, each once.
func (f *fold) wanted(lists ...[]events.Position) (requests []events.ID) {
	if first, _ := openRequestTable().Cursor(f.x).First(); first == nil { // as nearly always
		return nil
	}
	for _, list := range lists {
		for _, p := range list {
			by, _ := openRequestTable().Get(f.x, engine.PositionKey(p))
			for _, id := range by.Requests {
				if !slices.Contains(requests, id) {
					requests = append(requests, id)
				}
			}
		}
	}
	return requests
}

// hideMade hides a new row that a turn made of what an open request names.
func (f *fold) hideMade(row *Row) {
	turn := f.turnOf.Peek(row.Turn)
	if !f.turns || turn == nil {
		return
	}
	for _, id := range append(slices.Clip(turn.OpenRequests), f.wanted(turn.Settles)...) {
		open, still := requestTable().Get(f.x, engine.IDKey(id))
		if !still || slices.Contains(row.ForgetRequests, id) {
			continue
		}
		row.ForgetRequests = append(row.ForgetRequests, id)
		open.Made = append(open.Made, row.ID)
		requestTable().Put(f.x, engine.IDKey(id), open)
	}
}

// leaveRequests takes a row that is forgotten from the requests that hid it as it was made: a log in which it is erased never makes it.
// Requests that name it by its id go on doing so.
func (f *fold) leaveRequests(row Row) {
	if !f.turns {
		return
	}
	for _, id := range row.ForgetRequests {
		open, still := requestTable().Get(f.x, engine.IDKey(id))
		if still && slices.Contains(open.Made, row.ID) {
			open.Made = without(open.Made, row.ID)
			requestTable().Put(f.x, engine.IDKey(id), open)
		}
	}
}
