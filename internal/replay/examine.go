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

// readAhead is records, read in a goroutine of their own. It has ended when the sequence has, or is left.
func readAhead(records iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		batches, left := make(chan batch, readBatches), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(batches)
			readBatched(records, batches, left)
		})
		defer wg.Wait()
		defer close(left)
		for b := range batches {
			for _, r := range b.records {
				if !yield(r, nil) {
					return
				}
			}
			if b.err != nil && !yield(events.Record{}, b.err) {
				return
			}
		}
	}
}

// batch is some records, and the error that came behind them.
type batch struct {
	records []events.Record
	err     error
}

// readBatched sends records in batches until left is closed.
func readBatched(records iter.Seq2[events.Record, error], batches chan<- batch, left <-chan struct{}) {
	var b batch
	send := func() bool {
		select {
		case batches <- b:
			b = batch{}
			return true
		case <-left:
			return false
		}
	}
	for r, err := range records {
		if b.err = err; err == nil {
			if b.records == nil {
				b.records = make([]events.Record, 0, readBatch)
			}
			b.records = append(b.records, r)
		}
		if (err != nil || len(b.records) == readBatch) && !send() {
			return
		}
	}
	send()
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
