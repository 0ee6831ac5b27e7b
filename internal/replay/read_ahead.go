package replay

import (
	"iter"
	"sync"

	"github.com/cmemd/cmemd/events"
)

// readBatch is how many records are handed over at once, fewer where their payloads come to readBytes, and readBatches how many such
// batches may wait.
const (
	readBatch   = 512
	readBytes   = 256 << 10
	readBatches = 4
)

// readAhead is records up to the first error, read in a goroutine of their own. It has ended when the sequence has, or is left.
func readAhead(records iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		batches, left := make(chan []events.Record, readBatches), make(chan struct{})
		spent := make(chan []events.Record, readBatches) // those that may be filled again
		var failed error                                 // written before batches is closed
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(batches)
			failed = readBatched(records, batches, spent, left)
		})
		defer wg.Wait()
		defer close(left)
		for batch := range batches {
			for _, r := range batch {
				if !yield(r, nil) {
					return
				}
			}
			select {
			case spent <- batch[:0]:
			default:
			}
		}
		if failed != nil {
			yield(events.Record{}, failed)
		}
	}
}

// readBatched sends records in batches, spent ones where there are any, until left is closed, and returns the first error.
func readBatched(records iter.Seq2[events.Record, error], batches chan<- []events.Record, spent <-chan []events.Record, left <-chan struct{}) error {
	batch, size := make([]events.Record, 0, readBatch), 0
	send := func() bool {
		size = 0
		select {
		case batches <- batch:
		case <-left:
			return false
		}
		select {
		case batch = <-spent:
		default:
			batch = make([]events.Record, 0, readBatch)
		}
		return true
	}
	for r, err := range records {
		if err != nil {
			send()
			return err
		}
		size += int(r.Size)
		if batch = append(batch, r); (len(batch) == readBatch || size >= readBytes) && !send() {
			return nil
		}
	}
	send()
	return nil
}
