package vectors

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

// errDamaged is a file that cannot be read although it was opened.
var errDamaged = errors.New("vectors: damaged")

// slab is the file. One writer changes it at a time; any number may look for what is near meanwhile.
type slab struct {
	path  string
	model string

	mu      sync.RWMutex // guards the fields below, and what they map: who looks holds it for as long, some ten milliseconds
	file    *os.File     // nil: there is none, and no rows
	data    mapping
	dims    int
	count   int // rows in the file
	dead    int // of them, forgotten
	refused int
	byID    map[events.ID]int32
	at      []events.Position // of every row
	damaged bool
}

// openSlab opens the file at path, if it is one of model's vectors; any other file is begun anew with the first row. A torn
// end is cut off. why, if not empty, says what was thrown away.
func openSlab(path, model string) (s *slab, why string, err error) {
	s = &slab{path: path, model: model, byID: map[events.ID]int32{}}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return s, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("vectors: open: %w", err)
	}
	why, err = s.adopt(f)
	if err != nil || s.file == nil {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, "", err
	}
	if s.file == nil {
		err = s.reset()
	}
	return s, why, err
}

// adopt takes the rows of a file over. s.file stays nil if it is no file of ours.
func (s *slab) adopt(f *os.File) (why string, err error) {
	header := make([]byte, headerSize)
	if _, err := f.ReadAt(header, 0); err != nil {
		return "it has no header", nil
	}
	model, dims, ok := decodeHeader(header)
	switch {
	case !ok:
		return "its header is of another format, or damaged", nil
	case model != s.model:
		return fmt.Sprintf("it is of the model %s", model), nil
	}
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("vectors: open: %w", err)
	}
	there := int(info.Size()-headerSize) / rowSize(dims)
	s.dims = dims
	if err := s.remap(f, headerSize+there*rowSize(dims)); err != nil {
		return "", err
	}
	s.file = f
	if s.scan(there, header[cleanAt] == 1); s.count < there {
		why = fmt.Sprintf("%d of %d rows are kept: the end is torn", s.count, there)
		if header[cleanAt] != 1 && s.blank(there) {
			why = ""
		}
		err = s.truncate()
	}
	return why, errors.Join(err, s.setClean(0))
}

// scan counts the whole rows of n. Of a file that was closed in order only the heads are looked at.
func (s *slab) scan(n int, clean bool) {
	last := events.Position(0)
	for ; s.count < n; s.count++ {
		row := s.row(s.count)
		r := decodeHead(row)
		if !headOK(row) || !clean && !rowOK(row) || r.position <= last {
			return
		}
		last = r.position
		s.tally(r, s.count)
	}
}

func (s *slab) tally(r rowRef, at int) {
	s.at = append(s.at, r.position)
	switch r.state {
	case stateLive:
		s.byID[r.id] = int32(at)
	case stateDead:
		s.dead++
	case stateRefused:
		s.refused++
		s.byID[r.id] = int32(at)
	}
}

// blank reports whether nothing was ever written behind the rows: room that was taken ahead.
func (s *slab) blank(there int) bool {
	row := s.row(s.count)
	return s.count < there && !slices.ContainsFunc(row, func(b byte) bool { return b != 0 })
}

// row is one row as the file holds it. The caller holds mu, or is the writer.
func (s *slab) row(i int) []byte {
	size := rowSize(s.dims)
	at := headerSize + i*size
	return s.data[at : at+size : at+size]
}

// remap maps size bytes of a file in the place of what was mapped.
func (s *slab) remap(f *os.File, size int) error {
	data, err := mapFile(f, size)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.data
	s.data = data
	return old.unmap()
}

// truncate cuts off what is behind the rows.
func (s *slab) truncate() error {
	size := headerSize + s.count*rowSize(s.dims)
	if err := s.remap(s.file, size); err != nil {
		return err
	}
	return s.file.Truncate(int64(size))
}

func (s *slab) setClean(b byte) error {
	_, err := s.file.WriteAt([]byte{b}, cleanAt)
	return err
}

// reset deletes the file and all rows.
func (s *slab) reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.data.unmap()
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	s.file, s.data, s.dims, s.count, s.dead, s.refused = nil, nil, 0, 0, 0, 0
	s.byID, s.at = map[events.ID]int32{}, nil
	if gone := os.Remove(s.path); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// create makes the file for vectors of dims dimensions. It has no rows.
func (s *slab) create(dims int) error {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("vectors: create: %w", err)
	}
	_, err = f.WriteAt(encodeHeader(s.model, dims), 0)
	if err == nil {
		err = s.remap(f, headerSize)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("vectors: create: %w", err), f.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file, s.dims = f, dims
	return nil
}

// made is a row to be written. Its vector is nil where the endpoint refused it.
type made struct {
	rowRef
	vector []float32
}

// append writes rows behind the others, which are of lower positions. They are seen when it returns, all or none.
func (s *slab) append(rows []made) error {
	size := rowSize(s.dims)
	if err := s.grow(s.count + len(rows)); err != nil {
		return err
	}
	buf := make([]byte, len(rows)*size)
	zero := make([]float32, s.dims)
	for i, r := range rows {
		r.state = stateLive
		if r.vector == nil {
			r.state, r.vector = stateRefused, zero
		}
		rows[i] = r
		encodeRow(buf[i*size:], r.rowRef, r.vector)
	}
	at := headerSize + s.count*size
	if _, err := s.file.WriteAt(buf, int64(at)); err != nil {
		return fmt.Errorf("vectors: append: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data.wrote(buf, at)
	for _, r := range rows {
		s.tally(r.rowRef, s.count)
		s.count++
	}
	return nil
}

// grow makes room for n rows in the file and the mapping.
func (s *slab) grow(n int) error {
	size := rowSize(s.dims)
	if headerSize+n*size <= len(s.data) {
		return nil
	}
	room := headerSize + max(n, 64, s.count+s.count/4)*size
	if err := s.file.Truncate(int64(room)); err != nil {
		return fmt.Errorf("vectors: grow: %w", err)
	}
	return s.remap(s.file, room)
}

// last is the row with the highest position; ok is false if there is none.
func (s *slab) last() (r rowRef, ok bool) {
	if s.count == 0 {
		return r, false
	}
	return decodeHead(s.row(s.count - 1)), true
}

// forget zeroes the rows with the given ids and positions. They are gone from the file on disk when it returns.
func (s *slab) forget(ids []events.ID, positions []events.Position) error {
	var rows []int
	for _, id := range ids {
		if i, ok := s.byID[id]; ok {
			rows = append(rows, int(i))
		}
	}
	for _, p := range positions {
		if i, ok := slices.BinarySearch(s.at, p); ok && decodeHead(s.row(i)).state != stateDead {
			rows = append(rows, i)
		}
	}
	slices.Sort(rows)
	if rows = slices.Compact(rows); len(rows) == 0 {
		return nil
	}
	for _, i := range rows {
		if err := s.zero(i); err != nil {
			return fmt.Errorf("vectors: forget: %w", err)
		}
	}
	return s.file.Sync()
}

// zero makes a row a dead one: first its head, which says so, then its vector.
func (s *slab) zero(i int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := decodeHead(s.row(i))
	delete(s.byID, r.id)
	if r.state == stateRefused {
		s.refused--
	}
	s.dead++
	size := rowSize(s.dims)
	row := make([]byte, size)
	encodeRow(row, rowRef{position: r.position, chain: r.chain, state: stateDead}, make([]float32, s.dims))
	at := headerSize + i*size
	for _, part := range [][2]int{{0, rowHead}, {rowHead, size}} {
		if _, err := s.file.WriteAt(row[part[0]:part[1]], int64(at+part[0])); err != nil {
			return err
		}
	}
	s.data.wrote(row, at)
	return nil
}

// compact makes the file anew without the rows that are dead; nothing is done where none are.
func (s *slab) compact() error {
	if s.dead == 0 {
		return nil
	}
	next := &slab{path: s.path + ".tmp", model: s.model, byID: map[events.ID]int32{}}
	if err := next.fill(s); err != nil {
		return errors.Join(fmt.Errorf("vectors: compact: %w", err), next.reset())
	}
	return errors.Join(s.exchange(next), durable.SyncDir(filepath.Dir(s.path)))
}

// fill makes the file of from's rows that are not dead, and puts it in the place of from's.
func (s *slab) fill(from *slab) error {
	if err := s.create(from.dims); err != nil {
		return err
	}
	if err := s.copyLive(from); err != nil {
		return err
	}
	if err := errors.Join(s.truncate(), s.file.Sync()); err != nil {
		return err
	}
	return os.Rename(s.path, from.path)
}

// copyLive appends the rows of from that are not dead.
func (s *slab) copyLive(from *slab) error {
	size := rowSize(s.dims)
	for i := range from.count {
		row := from.row(i)
		r := decodeHead(row)
		if r.state == stateDead {
			continue
		}
		if err := s.grow(s.count + 1); err != nil {
			return err
		}
		if _, err := s.file.WriteAt(row, int64(headerSize+s.count*size)); err != nil {
			return fmt.Errorf("vectors: compact: %w", err)
		}
		s.data.wrote(row, headerSize+s.count*size)
		s.tally(r, s.count)
		s.count++
	}
	return nil
}

// exchange takes the file of next, which has taken the place of the own one.
func (s *slab) exchange(next *slab) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errors.Join(s.data.unmap(), s.file.Close())
	s.file, s.data, s.count, s.dead, s.refused, s.byID, s.at = next.file, next.data, next.count, next.dead, next.refused, next.byID, next.at
	return err
}

// close ends with a file that is whole on disk. There are no rows to look at any more.
func (s *slab) close() error {
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.truncate(), s.file.Sync())
	if err == nil && !s.damaged {
		err = errors.Join(s.setClean(1), s.file.Sync())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = errors.Join(err, s.data.unmap(), s.file.Close())
	s.file, s.data, s.count, s.byID, s.at = nil, nil, 0, nil, nil
	return err
}

// guard turns a fault of the mapped file, which a disk that cannot be read leads to, into errDamaged. It is deferred.
func guard(before bool, err *error) {
	debug.SetPanicOnFault(before)
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errDamaged, p)
	}
}
