package vectors

import (
	"errors"
	"runtime"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// errSize is a question's vector of another size than the rows'.
var errSize = errors.New("vectors: of another size")

// perWorker is how many rows are worth a goroutine of their own.
const perWorker = 4096

// nearest returns the k rows nearest to a vector of length 1, of all or, where only is not nil, of those at its positions, which are
// in order; and how near all of these are. It is exact.
func (s *store) nearest(vector []float32, only []events.Position, k int) (hits []Hit, all spread, err error) {
	err = s.view(func(table *bolt.Bucket, st state) error {
		if len(vector) != st.Dims {
			return errSize
		}
		var blocks []block
		err := table.ForEach(func(_, value []byte) error {
			blocks = append(blocks, blockOf(value, st.Dims))
			return nil
		})
		if err != nil {
			return err
		}
		n := st.Filled
		if only != nil {
			n = len(only)
		}
		workers := max(1, min(runtime.GOMAXPROCS(0), n/perWorker, len(blocks)))
		hits, all, err = parted(blocks, workers, compared{vector: vector, only: only, best: best{k: k}})
		return err
	})
	return hits, all, err
}

// parted has each of some goroutines compare a part of the blocks as c does.
func parted(blocks []block, workers int, c compared) ([]Hit, spread, error) {
	parts, errs := make([]compared, workers), make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		parts[w] = c
		part := blocks[w*len(blocks)/workers : (w+1)*len(blocks)/workers]
		all.Go(func() {
			errs[w] = engine.Guard(func() error { parts[w].compare(part); return nil })
		})
	}
	all.Wait()
	for _, p := range parts {
		c.spread.join(p.spread)
		for _, h := range p.hits {
			c.best.add(h)
		}
	}
	return c.hits, c.spread, errors.Join(errs...)
}

// compared is what some rows are to a question.
type compared struct {
	vector []float32
	only   []events.Position // nil: all rows
	best
	spread
}

// compare compares the rows of blocks that follow each other, once.
func (c *compared) compare(blocks []block) {
	least := c.least()
	for _, b := range blocks {
		for i := range b.n {
			if !c.isAsked(b.position(i)) || b.refused(i) {
				continue
			}
			score := float64(dot(c.vector, b.vector(i)))
			c.spread.add(score)
			if score > least {
				c.best.add(Hit{ID: b.id(i), Score: score})
				least = c.least()
			}
		}
	}
}

// isAsked reports whether the row at a position, which is above those before, is to be compared.
func (c *compared) isAsked(p events.Position) bool {
	if c.only == nil {
		return true
	}
	for len(c.only) > 0 && c.only[0] < p {
		c.only = c.only[1:]
	}
	return len(c.only) > 0 && c.only[0] == p
}
