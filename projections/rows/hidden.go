package rows

import (
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// What an agent wants forgotten is not erased. Its rows leave the lists, so that nobody is told what may be a leaked key, and come
// back when a person refuses, or nobody has answered for too long. Nothing else of them changes: whatever says the same in a group is
// named by the request too, or goes on standing.

// request is an open request: the rows that it names, of whatever kind, whether they are there or not.
type request struct {
	IDs []events.ID `cbor:"1,keyasint,omitempty" json:"ids"`
}

func requestTable() engine.Table[request] { return engine.Table[request]{Name: "requests"} }

// hide takes the rows of a request out of the lists. A request may come in several events.
func (f *fold) hide(_ *engine.Record, e events.ForgetRequested) {
	key := engine.IDKey(e.Request)
	open, _ := requestTable().Get(f.x, key)
	open.IDs = append(open.IDs, e.IDs...)
	requestTable().Put(f.x, key, open)
	for _, id := range e.IDs {
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
	for _, id := range open.IDs {
		if row, ok := f.get(id); ok {
			row.ForgetRequests = without(row.ForgetRequests, e.Request)
			f.list(row)
			f.put(row)
		}
	}
}
