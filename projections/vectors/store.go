package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/projections/engine"
)

// Version is the format of the file. A file of version 1 is taken over (slab.go); any other is begun anew.
const Version = 2

// maxModel is how many bytes the name of a model may have.
const maxModel = 256

var (
	// errOther is a file of other vectors than these.
	errOther = errors.New("vectors: of another model or format")

	// errUnchanged ends an update that has nothing to change.
	errUnchanged = errors.New("vectors: unchanged")

	// errDoubted is a file that could not be read: it is to be checked.
	errDoubted = errors.New("vectors: not readable")
)

// The file has one bucket, which holds its state as JSON, and the bucket of its blocks.
var bucketName, stateName, blocksName = []byte("vectors"), []byte("state"), []byte("blocks")

// store is the file. One goroutine at a time changes it; any number may search it meanwhile.
type store struct {
	path, model string

	mu    sync.RWMutex // guards the fields below; whoever searches holds it for as long, some ten milliseconds
	file  *engine.File // nil: closed
	state state
	bytes int64 // of the file
}

// state is what the file says of itself.
type state struct {
	Version, Order uint32 // Order shows the byte order of the vectors
	Model          string
	Dims           int // 0: there was no row yet
	Filled         int // rows with a vector
	Refused        int // rows that the endpoint would not embed

	// The record of the last row that was stored. The log is followed from behind it.
	Position events.Position
	Chain    []byte // the beginning of the record's, which tells one log from another; empty: not known

	Stale bool // unused pages may hold rows that were forgotten
}

// openStore opens the file at path. A file that is not of model's vectors is begun anew, and why says so. If the error is errKept, the
// store is there, and closed.
func openStore(path, model string) (s *store, why string, err error) {
	s = &store{path: path, model: model}
	if err := durable.Remove(path + ".tmp"); err != nil { // a killed program left it
		return nil, "", fmt.Errorf("vectors: open: %w", err)
	}
	if why, err = convert(path, model); err != nil {
		return s, "", fmt.Errorf("vectors: open: %w", err)
	}
	err = s.open()
	if errors.Is(err, engine.ErrDamaged) || errors.Is(err, errOther) {
		why, err = err.Error(), s.reset()
	}
	if err != nil {
		return nil, "", fmt.Errorf("vectors: open: %w", err)
	}
	return s, why, nil
}

// open opens the file and reads its state, or lays it out.
func (s *store) open() error {
	file, err := engine.OpenFile(s.path, true)
	if err != nil {
		return err
	}
	st := state{Version: Version, Order: order(), Model: s.model}
	if err = file.View(func(tx *bolt.Tx) error { return s.read(tx, &st) }); err != nil {
		return errors.Join(err, file.Close())
	}
	s.mu.Lock()
	s.file, s.state = file, st
	s.mu.Unlock()
	return s.update(func(*bolt.Bucket, *state) error { return nil })
}

// read reads the state of a file that has one, which must be of the model.
func (s *store) read(tx *bolt.Tx, st *state) error {
	root := tx.Bucket(bucketName)
	if root == nil {
		return nil
	}
	var have state
	if err := json.Unmarshal(root.Get(stateName), &have); err != nil || root.Bucket(blocksName) == nil {
		return engine.Damaged("no state of vectors: %v", err)
	}
	if have.Version != st.Version || have.Order != st.Order || have.Model != st.Model || have.Dims < 0 || have.Dims > maxDims {
		return fmt.Errorf("%w: model %s, version %d", errOther, have.Model, have.Version)
	}
	*st = have
	return nil
}

// update runs change in a transaction, with the state that it may change too.
func (s *store) update(change func(blocks *bolt.Bucket, st *state) error) error {
	next, size := s.state, int64(0)
	err := s.file.Update(func(tx *bolt.Tx) error {
		root, err := tx.CreateBucketIfNotExists(bucketName)
		if err != nil {
			return err
		}
		blocks, err := root.CreateBucketIfNotExists(blocksName)
		if err != nil {
			return err
		}
		if err := change(blocks, &next); err != nil {
			return err
		}
		text, err := json.Marshal(next)
		size = tx.Size()
		return errors.Join(err, root.Put(stateName, text))
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.bytes = next, size
	return nil
}

// view runs read in a transaction, in which the file has rows. It is not run where it has none.
func (s *store) view(read func(blocks *bolt.Bucket, st state) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.file == nil || s.state.Filled+s.state.Refused == 0 {
		return nil
	}
	return s.file.View(func(tx *bolt.Tx) error {
		root := tx.Bucket(bucketName)
		return read(root.Bucket(blocksName), s.state)
	})
}

// reset begins the file anew.
func (s *store) reset() error {
	if s.file != nil {
		if err := s.file.CheckInPlace(); err != nil {
			return err
		}
	}
	err := errors.Join(s.close(), durable.Remove(s.path))
	if err != nil && !errors.Is(err, engine.ErrDamaged) {
		return err
	}
	return s.open()
}

// append stores rows behind the others, which are of lower positions, and that the log was read up to last. They are found when it
// returns, all or none. Before there was any vector, its size is not known, and nothing is stored. The error is errDoubted where the
// block that they would join is not as it was stored.
func (s *store) append(rows []row, last rowRef) error {
	return s.update(func(blocks *bolt.Bucket, st *state) error {
		if i := slices.IndexFunc(rows, func(r row) bool { return r.vector != nil }); st.Dims == 0 && i >= 0 {
			st.Dims = len(rows[i].vector)
		}
		if st.Dims == 0 {
			return nil
		}
		st.Position, st.Chain = last.position, last.chain[:]
		for _, r := range rows {
			st.count(r, 1)
		}
		most := max(1, blockBytes/(4*st.Dims))
		if key, value := blocks.Cursor().Last(); key != nil && len(rows) > 0 {
			if b := blockOf(value, st.Dims); b.n < most {
				before, err := checkedRows(key, value, st.Dims)
				if err != nil {
					return err
				}
				rows = append(before, rows...)
			}
		}
		for part := range slices.Chunk(rows, most) {
			if err := putBlock(blocks, part, st.Dims); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkedRows are the rows of a block that is to be written again: one that is damaged would look whole after that. The error is
// errDoubted.
func checkedRows(key, value []byte, dims int) ([]row, error) {
	b := blockOf(value, dims)
	if err := engine.Guard(func() error { return b.check(key) }); err != nil {
		return nil, fmt.Errorf("%w: %v", errDoubted, err)
	}
	return b.rows(), nil
}

// count counts a row that comes (by 1) or goes (by -1).
func (st *state) count(r row, by int) {
	if r.vector == nil {
		st.Refused += by
	} else {
		st.Filled += by
	}
}

// forget deletes the rows with the given ids and positions. Their bytes are in unused pages until compact. Where there are none
// nothing is written, nor where the file is closed. The error is errDoubted where their block is not as it was stored.
func (s *store) forget(ids []events.ID, positions []events.Position) error {
	if s.file == nil {
		return nil
	}
	id, at := setOf(ids), setOf(positions)
	gone := func(r row) bool { return id[r.id] || at[r.position] }
	return s.update(func(blocks *bolt.Bucket, st *state) error {
		var keys [][]byte // of the blocks that change
		for key, b := range blocksOf(blocks, st.Dims) {
			if slices.ContainsFunc(b.rows(), gone) {
				keys = append(keys, bytes.Clone(key))
			}
		}
		if len(keys) == 0 {
			return errUnchanged
		}
		st.Stale = true
		for _, key := range keys {
			rows, err := checkedRows(key, blocks.Get(key), st.Dims)
			if err != nil {
				return err
			}
			for _, r := range rows {
				if gone(r) {
					st.count(r, -1)
				}
			}
			if err := errors.Join(blocks.Delete(key), putBlock(blocks, slices.DeleteFunc(rows, gone), st.Dims)); err != nil {
				return err
			}
		}
		return nil
	})
}

// compact makes the file anew without what unused pages hold, if that may be a row that was forgotten.
func (s *store) compact() error {
	if !s.state.Stale {
		return nil
	}
	copied, err := s.file.Copy()
	if err != nil {
		return fmt.Errorf("vectors: compact: %w", err)
	}
	s.mu.Lock()
	err = s.file.Exchange(copied)
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("vectors: compact: %w", err)
	}
	return s.update(func(_ *bolt.Bucket, st *state) error { st.Stale = false; return nil })
}

// check reads all rows. From the first on that is not as it was stored they are deleted, for they can be made again, and why
// says so. Their bytes are in unused pages until compact. The error is engine.ErrDamaged where keys are damaged so that they cannot be found
// to be deleted. Of a closed file there is nothing to check.
func (s *store) check() (why string, err error) {
	if s.file == nil {
		return "", nil
	}
	err = s.update(func(blocks *bolt.Bucket, st *state) error {
		whole := *st
		bad, reason := whole.recount(blocks)
		if bad == nil {
			return errUnchanged
		}
		*st = whole
		st.Stale = true // what is deleted may be forgotten before it is made again
		c := blocks.Cursor()
		for key, _ := c.Seek(bad); key != nil; key, _ = c.Next() {
			if err := c.Delete(); err != nil {
				return err
			}
		}
		if key, _ := whole.recount(blocks); key != nil || whole.Filled != st.Filled || whole.Refused != st.Refused {
			return engine.Damaged("the blocks are not in their order: %s", reason)
		}
		why = reason
		return nil
	})
	return why, err
}

// recount has st count the rows up to the first block that is not as it was stored, and returns its key, and what is wrong with it.
func (st *state) recount(blocks *bolt.Bucket) (bad []byte, why string) {
	st.Filled, st.Refused, st.Position, st.Chain = 0, 0, 0, nil
	for key, b := range blocksOf(blocks, st.Dims) {
		if err := engine.Guard(func() error { return b.check(key) }); err != nil {
			return bytes.Clone(key), err.Error()
		}
		for _, r := range b.rows() {
			st.count(r, 1)
			st.Position = r.position
		}
	}
	return nil, ""
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file, s.state = nil, state{}
	return err
}

func setOf[T comparable](list []T) map[T]bool {
	out := make(map[T]bool, len(list))
	for _, x := range list {
		out[x] = true
	}
	return out
}
