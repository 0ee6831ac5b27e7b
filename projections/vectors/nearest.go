package vectors

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/cmemd/cmemd/events"
)

// errSize is a question's vector of another size than the rows'.
var errSize = errors.New("vectors: of another size")

// perWorker is how many rows are worth a goroutine of their own.
const perWorker = 4096

// nearest returns the k live rows nearest to a vector of length 1, of all or, where only is not nil, of those
// at its positions, which are in order; and how near all of these are. It is exact.
func (s *slab) nearest(vector []float32, only []events.Position, k int) ([]Hit, spread, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.count == 0 || s.file == nil {
		return nil, spread{}, nil
	}
	if len(vector) != s.dims {
		return nil, spread{}, errSize
	}
	var rows []int32 // nil: all
	if only != nil {
		rows = s.rowsOf(only)
	}
	return s.parted(vector, rows, k)
}

// rowsOf are the rows of positions, in the file's order: it is read from its beginning to its end.
func (s *slab) rowsOf(positions []events.Position) []int32 {
	rows := make([]int32, 0, min(len(positions), s.count))
	i := 0
	for _, p := range positions {
		for i < s.count && s.at[i] < p {
			i++
		}
		if i < s.count && s.at[i] == p {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// parted has the rows looked at by as many goroutines as there are cores, each with a part of them.
func (s *slab) parted(vector []float32, rows []int32, k int) ([]Hit, spread, error) {
	n := s.count
	if rows != nil {
		n = len(rows)
	}
	workers := max(1, min(runtime.GOMAXPROCS(0), n/perWorker))
	found, errs := make([]looked, workers), make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			found[w], errs[w] = s.look(vector, rows, w*n/workers, (w+1)*n/workers, k)
		})
	}
	all.Wait()
	whole := found[0]
	for _, part := range found[1:] {
		whole.join(part.spread)
		for _, h := range part.hits {
			whole.best.add(h)
		}
	}
	return whole.hits, whole.spread, errors.Join(errs...)
}

// looked is what a part of the rows is to a question.
type looked struct {
	best
	spread
}

// look finds the best of the rows from..to-1, or of those that rows names there.
func (s *slab) look(vector []float32, rows []int32, from, to, k int) (l looked, err error) {
	defer guard(debug.SetPanicOnFault(true), &err)
	l.best.k = k
	least := l.least()
	for i := from; i < to; i++ {
		at := i
		if rows != nil {
			at = int(rows[i])
		}
		row := s.row(at)
		if rowState(row[32]) != stateLive {
			continue
		}
		score := float64(dot(vector, vectorOf(row)))
		l.spread.add(score)
		if score > least {
			l.best.add(Hit{ID: events.ID(row[:16]), Score: score})
			least = l.least()
		}
	}
	return l, nil
}
