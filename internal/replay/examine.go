package replay

import (
	"iter"

	"github.com/cmemd/cmemd/events"
)

// Examine is Prove and Record of one stretch, in one pass over records. Types are as in Prove.
func Examine(records iter.Seq2[events.Record, error], w Wanted, types TypesOf) (Proof, *Recording, error) {
	d := make(decoder, decodedMost)
	p, rec := newProver(w.Selection, types), newRecorder(w, d)
	p.decoder = d
	more, err := w.Selection.read(records, p, &rec.turns)
	if err != nil {
		return Proof{}, nil, err
	}
	recording, err := rec.result(records, more)
	return p.result(), recording, err
}

// decodedMost is how many events a decoder remembers: more than a decision has, behind whose last one its first is read
// again.
const decodedMost = 2 * maxApart

// decoder decodes records for two readers, each record once: it remembers the latest. nil remembers nothing.
type decoder []decoded

type decoded struct {
	position events.Position
	event    events.Event
	err      error
}

// event is the event of r; nil if its payload was erased. What it returns is not to be changed.
func (d decoder) event(r events.Record) (events.Event, error) {
	if d == nil {
		return eventOf(r)
	}
	slot := &d[r.Position%decodedMost]
	if slot.position != r.Position {
		e, err := eventOf(r)
		*slot = decoded{r.Position, e, err}
	}
	return slot.event, slot.err
}
