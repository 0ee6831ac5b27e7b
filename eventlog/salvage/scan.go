package salvage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/boltcheck"
)

const (
	// keySize is the length of a record's key, which lies before it.
	keySize = 8

	// prologue is what precedes a stored record's header.
	prologue = 4

	// maxRecordBytes bounds a stored record and its key.
	maxRecordBytes = keySize + events.MaxHeader + events.MaxPayload

	// windowSize is how much of a file is in memory at once; half of it is looked at before it moves on.
	windowSize = 2 * maxRecordBytes

	// sector is what is read at once where the disk cannot read more.
	sector = 4096

	// Payloads that are not what their headers name were read for nothing. Damage does that to a few; where there are more such bytes
	// than these, in parts of the file and beside it, the file was made to cost time, and only short payloads are looked at. So it is with
	// what was looked at behind records that say they were erased: from then on they are believed.
	spentParts  = 16
	spentBeside = 1 << 30
	shortRecord = 64 << 10
)

// found is a stored record in a file.
type found struct {
	at       events.Position
	previous events.Position
	version  events.Version
	offset   int64  // of the stored record in the file
	size     int32  // of its stored form; without a payload where that is not whole
	head     int16  // of it, without salt and payload
	forgets  bool   // it says what was forgotten
	stream   int32  // its index among names
	recorded int64  // in Unix nanoseconds
	print    uint64 // of its header and chain
	same     uint64 // print of its header: what all copies of the record have
	whole    bool   // it has its payload, or was erased or withheld
	erased   bool   // in this copy or in another one
	live     bool   // the tree leads here
}

// scanner looks for records in the bytes of a file.
type scanner struct {
	file     io.ReaderAt
	size     int64
	codec    *events.Codec
	live     []extent // of the log, sorted
	progress func(done int64)

	all      []found
	names    []events.StreamID
	numbers  map[events.StreamID]int32
	seed     maphash.Seed
	spent    int64 // payload bytes that were read for nothing
	doubted  int64 // and behind records that say they were erased
	unread   int64 // bytes that the disk could not read
	readable bool
	failure  error // of the disk
}

// run looks at all bytes. The error is ctx's, or the disk's where it could read nothing.
func (s *scanner) run(ctx context.Context) error {
	s.seed, s.numbers = maphash.MakeSeed(), map[events.StreamID]int32{}
	buf := make([]byte, min(int64(windowSize), s.size))
	base, held := int64(0), 0
	for base+int64(held) < s.size || held > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(int64(len(buf)), s.size-base))
		s.fill(buf[held:n], base+int64(held))
		end, last := n-maxRecordBytes, base+int64(n) == s.size
		if last {
			end = n
		}
		next := min(s.window(buf[:n], base, end), n)
		if s.progress(base + int64(next)); last {
			break
		}
		held = copy(buf, buf[next:n])
		base += int64(next)
	}
	if !s.readable && s.failure != nil {
		return s.failure
	}
	return nil
}

// fill reads at offset. Sectors that cannot be read are as zeros.
func (s *scanner) fill(b []byte, offset int64) {
	if n, err := s.file.ReadAt(b, offset); n == len(b) || errors.Is(err, io.EOF) {
		clear(b[n:])
		s.readable = true
		return
	}
	for part := range slices.Chunk(b, sector) {
		n, err := s.file.ReadAt(part, offset)
		if n < len(part) {
			clear(part[n:])
			s.unread, s.failure = s.unread+int64(len(part)-n), err
		}
		s.readable = s.readable || n > 0
		offset += int64(len(part))
	}
}

// window takes the records that begin in b, the bytes of the file at base, before end, and returns where it goes on.
func (s *scanner) window(b []byte, base int64, end int) (next int) {
	const layout = 1 // a stored record begins with it
	i := 0
	for i < end {
		skip := bytes.IndexByte(b[min(i+keySize, len(b)):], layout)
		if i += max(skip, 0); skip < 0 || i >= end {
			return end
		}
		i = s.record(b[i:], base, i)
	}
	return max(i, end, 0)
}

// record takes the record whose key b begins with, if one does, and returns where it goes on behind index i of the window at base.
//
// What an agent said is text, and somebody may have it say what looks like a record, in the hope that the payload around it is damaged one
// day. A record's header and chain hold two hashes and a random id, so that one in some 2^50 is text itself.
func (s *scanner) record(b []byte, base int64, i int) (next int) {
	at := events.StoredAt(b[keySize:])
	if at == 0 || binary.BigEndian.Uint64(b) != uint64(at) {
		return i + 1
	}
	key := base + int64(i)
	stored := b[keySize:min(len(b), maxRecordBytes)]
	limit := spentParts*s.size + spentBeside
	if s.spent > limit {
		stored = stored[:min(len(stored), shortRecord)]
	}
	n, live := slices.BinarySearchFunc(s.live, key, func(e extent, key int64) int { return cmp.Compare(e.key, key) })
	saysErased := events.SaysErased(stored)
	if head := headLength(stored); live && s.live[n].value == head || saysErased && s.doubted > limit {
		stored = stored[:min(len(stored), head)] // no payload follows, or that is believed
	}
	r, size, whole, err := s.codec.Carve(stored)
	if err != nil || r.Stream == "" || r.Stream[0] <= ' ' || utf8.Valid(b[:keySize+headLength(stored)]) {
		return i + 1
	}
	if live && r.Erased && s.live[n].value != size {
		whole = false // the mark of an erasure is damage: a payload follows
	}
	s.all = append(s.all, found{
		at: at, previous: r.Previous, version: r.Version, offset: key + keySize, size: int32(size), stream: s.number(r.Stream),
		head: int16(headLength(stored)), forgets: r.Kind == events.KindMemoryForgotten,
		recorded: r.RecordedAt.UnixNano(), print: maphash.Bytes(s.seed, stored[prologue:headLength(stored)]),
		same:  maphash.Bytes(s.seed, stored[prologue:headLength(stored)-len(events.Hash{})]),
		whole: whole, erased: r.Erased && whole && !r.Withheld, live: live,
	})
	switch {
	case saysErased:
		s.doubted += int64(min(int(r.Size), len(stored)-size))
	case !whole:
		s.spent += int64(r.Size)
	}
	if whole {
		return i + keySize + size
	}
	return i + 1
}

// headLength is the length of a stored record without salt and payload.
func headLength(stored []byte) int {
	return prologue + int(binary.BigEndian.Uint16(stored[2:])) + len(events.Hash{})
}

func (s *scanner) number(stream events.StreamID) int32 {
	n, ok := s.numbers[stream]
	if !ok {
		n = int32(len(s.names))
		s.names, s.numbers[stream] = append(s.names, stream), n
	}
	return n
}

// tree is what the pages of a file still say of it.
type tree struct {
	boltcheck.Reached
	live   []extent // of the log, sorted
	heads  map[events.StreamID]end
	format uint32 // of the file; 0: it is not known
}

// extent is where an element lies.
type extent struct {
	key   int64 // in the file; its value follows it
	value int   // its length
}

// end is where a stream ends.
type end struct {
	version events.Version
	last    events.Position
	chain   events.Hash
}

func treeOf(file io.ReaderAt, size int64) tree {
	t := tree{heads: map[events.StreamID]end{}}
	t.Reached = boltcheck.Reach(file, size, func(e boltcheck.Element) {
		switch {
		case e.Bucket == "log":
			t.live = append(t.live, extent{e.Offset, len(e.Value)})
		case e.Bucket == "head" && string(e.Key) == "\x00format" && len(e.Value) == 4:
			t.format = binary.BigEndian.Uint32(e.Value)
		case e.Bucket == "head" && len(e.Value) == 16+len(events.Hash{}):
			v := e.Value
			t.heads[events.StreamID(e.Key)] = end{
				events.Version(binary.BigEndian.Uint64(v)), events.Position(binary.BigEndian.Uint64(v[8:])), events.Hash(v[16:]),
			}
		}
	})
	slices.SortFunc(t.live, func(a, b extent) int { return cmp.Compare(a.key, b.key) })
	return t
}
