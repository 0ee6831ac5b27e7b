package vectors

import (
	"encoding/binary"
	"hash/crc32"
	"unsafe"

	"github.com/cmemd/cmemd/events"
)

// Version is the format of the file. Another one is made anew.
const Version = 1

// The file's layout in that format. Numbers are little endian; vectors are float32 in the byte order that the header's mark shows.
const (
	format     = Version
	headerSize = 512
	cleanAt    = 511 // one byte, outside of the header's checksum: the file was closed in order
	magic      = "cmemdvec"
	mark       = 0x01020304

	rowHead  = 48
	maxModel = 256
	maxDims  = 16 << 10
)

// A row is live, dead (forgotten: its vector is zero, its id too) or refused (the endpoint would not embed it).
type rowState byte

const (
	stateLive    rowState = 1
	stateDead    rowState = 2
	stateRefused rowState = 3
)

// rowRef is what a row is of.
type rowRef struct {
	id       events.ID
	position events.Position
	chain    [8]byte // the beginning of its record's: tells one log from another
	state    rowState
}

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func rowSize(dims int) int { return rowHead + 4*dims }

// encodeHead writes the head of a row whose vector has the given checksum.
func encodeHead(dst []byte, r rowRef, body uint32) {
	clear(dst[:rowHead])
	copy(dst, r.id[:])
	binary.LittleEndian.PutUint64(dst[16:], uint64(r.position))
	copy(dst[24:], r.chain[:])
	dst[32] = byte(r.state)
	binary.LittleEndian.PutUint32(dst[36:], body)
	binary.LittleEndian.PutUint32(dst[40:], castagnoli(dst[:40]))
}

// encodeRow writes a row of len(vector) dimensions.
func encodeRow(dst []byte, r rowRef, vector []float32) {
	body := dst[rowHead:rowSize(len(vector))]
	if len(vector) > 0 {
		copy(body, unsafe.Slice((*byte)(unsafe.Pointer(&vector[0])), 4*len(vector)))
	}
	encodeHead(dst, r, castagnoli(body))
}

// decodeHead reads the head of a row. It is not checked.
func decodeHead(b []byte) (r rowRef) {
	copy(r.id[:], b)
	r.position = events.Position(binary.LittleEndian.Uint64(b[16:]))
	copy(r.chain[:], b[24:32])
	r.state = rowState(b[32])
	return r
}

// headOK reports whether the head of a row is as it was written.
func headOK(b []byte) bool {
	state := rowState(b[32])
	return state >= stateLive && state <= stateRefused && binary.LittleEndian.Uint32(b[40:]) == castagnoli(b[:40])
}

// rowOK reports whether a row is whole. Of a dead one the head decides: its vector may have been half zeroed.
func rowOK(b []byte) bool {
	return headOK(b) && (rowState(b[32]) == stateDead || binary.LittleEndian.Uint32(b[36:]) == castagnoli(b[rowHead:]))
}

// vectorOf is the vector of a row, which begins at a multiple of four bytes.
func vectorOf(row []byte) []float32 {
	body := row[rowHead:]
	if len(body) == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&body[0])), len(body)/4)
}

// encodeHeader is the header of a file of a model's vectors.
func encodeHeader(model string, dims int) []byte {
	b := make([]byte, headerSize)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[8:], format)
	binary.NativeEndian.PutUint32(b[12:], mark)
	binary.LittleEndian.PutUint32(b[16:], uint32(dims))
	binary.LittleEndian.PutUint16(b[20:], uint16(len(model)))
	copy(b[22:], model)
	binary.LittleEndian.PutUint32(b[500:], castagnoli(b[:500]))
	return b
}

// decodeHeader reads a header. ok is false for anything that encodeHeader does not write on this machine.
func decodeHeader(b []byte) (model string, dims int, ok bool) {
	if len(b) < headerSize || string(b[:8]) != magic || binary.LittleEndian.Uint32(b[500:]) != castagnoli(b[:500]) {
		return "", 0, false
	}
	if binary.LittleEndian.Uint32(b[8:]) != format || binary.NativeEndian.Uint32(b[12:]) != mark {
		return "", 0, false
	}
	dims, n := int(binary.LittleEndian.Uint32(b[16:])), int(binary.LittleEndian.Uint16(b[20:]))
	if dims < 1 || dims > maxDims || n > maxModel {
		return "", 0, false
	}
	return string(b[22 : 22+n]), dims, true
}
