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

// rowsPerWorker is how many rows are worth a goroutine of their own.
const rowsPerWorker = 4096

// nearest returns the k rows nearest to a vector of length 1, of all or, where only is not nil, of those at its positions, which are
// in order; and how near all of these are. It is exact.
func (s *store) nearest(vector []float32, only []events.Position, k int) (hits []Hit, all spread, err error) {
	err = s.view(func(table *bolt.Bucket, st state) error {
		if len(vector) != st.Dims {
			return errSize
		}
		n := st.Filled
		if only != nil {
			n = len(only)
		}
		whole := compared{vector: vector, only: only, best: best{k: k}}
		parts := make([]compared, max(1, min(runtime.GOMAXPROCS(0), n/rowsPerWorker)))
		errs := make([]error, len(parts))
		blocks := walkOf(table, st.Dims)
		var workers sync.WaitGroup
		for i := range parts {
			parts[i] = whole
			workers.Go(func() {
				errs[i] = engine.Guard(func() error { parts[i].compare(blocks); return nil })
			})
		}
		workers.Wait()
		for _, p := range parts {
			whole.join(p.spread)
			for _, h := range p.hits {
				whole.best.add(h)
			}
		}
		hits, all = whole.hits, whole.spread
		return errors.Join(errs...)
	})
	return hits, all, err
}

// walk hands blocks out in their order, each to one of several goroutines, so that these need not wait until all are found.
type walk struct {
	dims int

	mu         sync.Mutex // guards the fields below
	cursor     *bolt.Cursor
	key, value []byte // that comes next
}

func walkOf(table *bolt.Bucket, dims int) *walk {
	w := &walk{dims: dims, cursor: table.Cursor()}
	w.key, w.value = w.cursor.First()
	return w
}

// next is the next block; ok is false behind the last.
func (w *walk) next() (b block, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.key == nil {
		return block{}, false
	}
	b = blockOf(w.value, w.dims)
	w.key, w.value = w.cursor.Next()
	return b, true
}

// compared is what some rows are to a question.
type compared struct {
	vector []float32
	only   []events.Position // nil: all rows
	best
	spread
}

// compare compares the rows of the blocks that are left.
func (c *compared) compare(blocks *walk) {
	least, only := c.least(), c.only
	for b, ok := blocks.next(); ok; b, ok = blocks.next() {
		for i := range b.n {
			position := b.position(i)
			for len(only) > 0 && only[0] < position {
				only = only[1:]
			}
			asked := c.only == nil || len(only) > 0 && only[0] == position
			if !asked || b.refused(i) {
				continue
			}
			score := float64(dot(c.vector, b.vector(i)))
			c.spread.add(score)
			if score > least {
				c.best.add(Hit{ID: b.id(i), Score: score, position: position})
				least = c.least()
			}
		}
	}
}
