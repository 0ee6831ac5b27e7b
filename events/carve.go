package events

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// leastStored is the length of the shortest stored record: erased, of a kind and a stream without a name.
const leastStored = prologue + fixedHeader + len(Hash{})

// MaxHeader bounds the stored form of a record without its payload.
const MaxHeader = prologue + fixedHeader + maxKind + MaxStream + len(Hash{}) + len(Salt{})

// StoredAt returns the position that a stored record at the beginning of b says of itself; 0 where none begins there. It is a
// guess that costs a few comparisons: Carve tells.
func StoredAt(b []byte) Position {
	if len(b) < leastStored || b[0] != layoutVersion || b[1]&^(stateCompressed|stateErased|stateWithheld) != 0 {
		return 0
	}
	n := int(binary.BigEndian.Uint16(b[2:]))
	if n < fixedHeader || n > fixedHeader+maxKind+MaxStream || b[prologue]&^(flagUnobserved|flagSessionStream) != 0 {
		return 0
	}
	return Position(binary.BigEndian.Uint64(b[prologue+3:]))
}

// SaysErased reports whether the stored record that b begins with says that it was erased or withheld. StoredAt must know it.
func SaysErased(b []byte) bool { return b[1]&stateErased != 0 }

// Carve reads the stored record that b begins with, whatever follows it, and how many bytes of b it takes. It is whole if its payload is
// there and is the one that its header names, whatever its state says; else if its state says that it was erased or withheld. Else r is
// without payload, as erased, and size does not count one. The error is ErrCorrupt where there is no header. r aliases b.
func (c *Codec) Carve(b []byte) (r Record, size int, whole bool, err error) {
	if StoredAt(b) == 0 {
		return Record{}, 0, false, fmt.Errorf("no record begins here: %w", ErrCorrupt)
	}
	head := prologue + int(binary.BigEndian.Uint16(b[2:])) + len(Hash{})
	if len(b) < head {
		return Record{}, 0, false, fmt.Errorf("record of %d bytes, %d without its payload: %w", len(b), head, ErrCorrupt)
	}
	bare, err := c.header(b[:head])
	if err != nil {
		return Record{}, 0, false, err
	}
	bare.compressed = b[1]&stateCompressed != 0
	if r, size, ok := bare.carvePayload(b[head:]); ok {
		return r, head + size, true, nil
	}
	gone := b[1]&stateErased != 0
	bare.Withheld = gone && b[1]&stateWithheld != 0
	return bare, head, gone, nil
}

// carvePayload returns r with the salt and the payload that b begins with, and how many bytes those are; false: they are not r's.
func (r Record) carvePayload(b []byte) (_ Record, size int, ok bool) {
	size = len(r.salt) + int(r.Size)
	if r.compressed && len(b) > len(r.salt) {
		frame := frameLength(b[len(r.salt):])
		if size = len(r.salt) + frame; frame < 0 {
			return r, 0, false
		}
	}
	if size > len(b) {
		return r, 0, false
	}
	r.Erased = false
	r, err := r.withPayload(b[:size:size])
	return r, size, err == nil && r.Check() == nil
}

// header reads a stored record up to its payload, as if that were erased.
func (c *Codec) header(b []byte) (Record, error) {
	h, err := parseHeader(b[prologue : len(b)-len(Hash{})])
	if err != nil {
		return Record{}, err
	}
	if h.Size > MaxPayload {
		return Record{}, fmt.Errorf("record %d: payload of %d bytes: %w", h.Position, h.Size, ErrCorrupt)
	}
	r := Record{Header: h, codec: c, Erased: true}
	copy(r.Chain[:], b[len(b)-len(r.Chain):])
	return r, nil
}

// frameLength is how long the zstd frame is that b begins with; -1 where b does not hold one whole. A frame is a header and blocks of
// {last u1, kind u2, size u21} and, unless they repeat one byte, that many bytes; RFC 8878, section 3.1.1.
func frameLength(b []byte) int {
	const repeats = 1
	var h zstd.Header
	if h.Decode(b) != nil || h.Skippable {
		return -1
	}
	for at := h.HeaderSize; at+3 <= len(b); {
		block := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16
		size := int(block >> 3)
		if block>>1&3 == repeats {
			size = 1
		}
		at += 3 + size
		if block&1 == 0 {
			continue
		}
		if h.HasCheckSum {
			at += 4
		}
		if at > len(b) {
			return -1
		}
		return at
	}
	return -1
}

// Relay returns r in another place of its stream: the record of version v after one at previous with chain prev. Position, payload and
// all else stay.
func (r Record) Relay(v Version, previous Position, prev Hash) Record {
	r.Version, r.Previous = v, previous
	r.Chain = NextChain(prev, r.Header)
	return r
}
