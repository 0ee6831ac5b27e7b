package engine

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
)

// sumSize is how many bytes behind each stored value are its checksum.
const sumSize = 4

// castagnoli is the CRC-32 that processors have an instruction for: a value costs some ten nanoseconds.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumSeed is what a table's checksums begin with, so that a value counts as damaged in every table but its own.
type sumSeed uint32

// sumSeedOf is the place of a view's table.
func sumSeedOf(view, table string) sumSeed { return sumSeed(0).in(view).in(table) }

// in is the place of that name in p, by FNV-1a.
func (p sumSeed) in(name string) sumSeed {
	const offset, prime = 2166136261, 16777619
	h := uint32(p) ^ offset
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * prime
	}
	return sumSeed(h)
}

// sum is the checksum of a key and its value.
func (p sumSeed) sum(key, value []byte) uint32 {
	sum := crc32.Update(uint32(p), castagnoli, key)
	return crc32.Update(sum^uint32(len(key)), castagnoli, value)
}

// appendSum appends its checksum to a value.
func (p sumSeed) appendSum(key, value []byte) []byte {
	return binary.BigEndian.AppendUint32(value, p.sum(key, value))
}

// checkSum is a stored value without its checksum. It is ErrDamaged if that is another one. No value is stored as nil.
func (p sumSeed) checkSum(key, stored []byte) ([]byte, error) {
	n := len(stored) - sumSize
	if n < 0 {
		return nil, Damaged("key %x has no checksum", key)
	}
	if value := stored[:n:n]; p.sum(key, value) == binary.BigEndian.Uint32(stored[n:]) {
		return value, nil
	}
	return nil, Damaged("key %x has another checksum", key)
}

// sumFile is the checksum of a whole file, and its size in bytes.
func sumFile(path string) (size int64, sum uint32, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	h := crc32.New(castagnoli)
	size, err = io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, 1<<16)) // a larger one reads no faster
	return size, h.Sum32(), err
}
