package replay

import (
	"iter"
	"sync"

	"github.com/cmemd/cmemd/events"
)

// Examine is Prove and Record of one stretch, in one pass over records that reads ahead of both. Types are as in Prove.
func Examine(records iter.Seq2[events.Record, error], w Wanted, types TypesOf) (Proof, *Recording, error) {
	d := newDecoder()
	p, rec := newProver(w.Selection, types), newRecorder(w, d)
	p.decoder = d
	more, err := w.Selection.read(readAhead(records), p, &rec.turns)
	if err != nil {
		return Proof{}, nil, err
	}
	recording, err := rec.result(records, more)
	return p.result(), recording, err
}

// readBatch is how many records are handed over at once, and readBatches how many such batches may wait.
const (
	readBatch   = 512
	readBatches = 4
)

// readAhead is records up to the first error, read in a goroutine of their own. It has ended when the sequence has, or is left.
func readAhead(records iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		batches, left := make(chan []events.Record, readBatches), make(chan struct{})
		var failed error // written before batches is closed
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(batches)
			failed = readBatched(records, batches, left)
		})
		defer wg.Wait()
		defer close(left)
		for batch := range batches {
			for _, r := range batch {
				if !yield(r, nil) {
					return
				}
			}
		}
		if failed != nil {
			yield(events.Record{}, failed)
		}
	}
}

// readBatched sends records in batches until left is closed, and returns the first error.
func readBatched(records iter.Seq2[events.Record, error], batches chan<- []events.Record, left <-chan struct{}) error {
	batch := make([]events.Record, 0, readBatch)
	send := func() bool {
		select {
		case batches <- batch:
			batch = make([]events.Record, 0, readBatch)
			return true
		case <-left:
			return false
		}
	}
	for r, err := range records {
		if err != nil {
			send()
			return err
		}
		if batch = append(batch, r); len(batch) == readBatch && !send() {
			return nil
		}
	}
	send()
	return nil
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

func newDecoder() decoder { return make(decoder, decodedMost) }

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
