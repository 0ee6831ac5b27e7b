package vectors

import (
	"encoding/binary"
	"hash/crc32"
	"iter"
	"unsafe"

	bolt "go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

const (
	// blockBytes is about how many bytes of vectors a block has: so much lies together for whoever searches. bbolt puts
	// two of them into a leaf, so that for one more row 870 KB are written on average.
	blockBytes = 256 << 10

	blockHead  = 8       // a checksum of the key and of what follows, and four bytes of nothing
	rowHead    = 8 + 16  // position and id
	refusedBit = 1 << 63 // is set in the position of a row that was refused
	maxDims    = 16 << 10
)

// rowRef is what a row is of.
type rowRef struct {
	id       events.ID
	position events.Position
	chain    [8]byte // the beginning of its record's
}

// row is a row of the file. Its vector is nil where the endpoint refused it.
type row struct {
	rowRef
	vector []float32
}

// block is some rows as the file holds them, in the order of their positions: first all positions, then all ids, then all
// vectors, which are float32 in the machine's byte order. Its key is the position of the first.
type block struct {
	data    []byte
	n, dims int // rows, and dimensions of each
}

func blockOf(value []byte, dims int) block {
	return block{value, max(0, len(value)-blockHead) / (rowHead + 4*dims), dims}
}

// blocksOf yields all blocks by their keys, in their order.
func blocksOf(blocks *bolt.Bucket, dims int) iter.Seq2[[]byte, block] {
	return func(yield func([]byte, block) bool) {
		c := blocks.Cursor()
		for key, value := c.First(); key != nil && yield(key, blockOf(value, dims)); key, value = c.Next() {
		}
	}
}

func (b block) place(i int) uint64 { return binary.LittleEndian.Uint64(b.data[blockHead+8*i:]) }

func (b block) position(i int) events.Position { return events.Position(b.place(i) &^ refusedBit) }

func (b block) refused(i int) bool { return b.place(i)&refusedBit != 0 }

func (b block) id(i int) events.ID { return events.ID(b.data[blockHead+8*b.n+16*i:][:16]) }

// vector is that of a row which was not refused, in place: a block begins at a multiple of four bytes, as page and element
// headers of bbolt, keys and blocks are of such lengths.
func (b block) vector(i int) []float32 {
	body := b.data[blockHead+b.n*rowHead+i*4*b.dims:]
	return unsafe.Slice((*float32)(unsafe.Pointer(&body[0])), b.dims)
}

// rows are all rows, without their chains. Their vectors lie in the file.
func (b block) rows() []row {
	out := make([]row, b.n)
	for i := range out {
		out[i].id, out[i].position = b.id(i), b.position(i)
		if !b.refused(i) {
			out[i].vector = b.vector(i)
		}
	}
	return out
}

// check is ErrDamaged if the block under a key is not as it was stored.
func (b block) check(key []byte) error {
	if b.n == 0 || len(b.data) != blockHead+b.n*(rowHead+4*b.dims) || binary.LittleEndian.Uint32(b.data) != checksum(key, b.data[4:]) {
		return engine.Damaged("the rows from position %x on", key)
	}
	return nil
}

func checksum(parts ...[]byte) (sum uint32) {
	for _, p := range parts {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), p)
	}
	return sum
}

// putBlock stores rows as a block; nothing where there are none.
func putBlock(blocks *bolt.Bucket, rows []row, dims int) error {
	if len(rows) == 0 {
		return nil
	}
	b := blockOf(make([]byte, blockHead+len(rows)*(rowHead+4*dims)), dims)
	for i, r := range rows {
		place := uint64(r.position)
		if r.vector == nil {
			place |= refusedBit
		}
		binary.LittleEndian.PutUint64(b.data[blockHead+8*i:], place)
		copy(b.data[blockHead+8*b.n+16*i:], r.id[:])
		copy(b.vector(i), r.vector)
	}
	key := binary.BigEndian.AppendUint64(nil, uint64(rows[0].position))
	binary.LittleEndian.PutUint32(b.data, checksum(key, b.data[4:]))
	return blocks.Put(key, b.data)
}

// order shows the machine's byte order.
func order() uint32 { return binary.NativeEndian.Uint32([]byte{1, 2, 3, 4}) }
