package engine

import (
	"encoding/binary"
	"errors"
)

// ErrMalformed is a stored value that is not whole: it ends too early, goes on too long, or holds what none has.
var ErrMalformed = errors.New("value cut")

// Former is a value that does without CBOR because there are many of it. Form passes its fields to p in their order on disk,
// which is the same whether p writes them or reads them. What is read into must be zero.
type Former interface{ Form(p *Packed) }

// Packed is the fields of a value side by side, as they are written or read.
type Packed struct {
	bytes   []byte // written, or left to be read
	reading bool
	short   bool
}

// packedRoom is how long most packed values are at most, in bytes.
const packedRoom = 64

// Packing is what fields are written to.
func Packing() Packed { return Packed{bytes: make([]byte, 0, packedRoom)} }

// Unpacking is what fields are read from. They do not keep raw.
func Unpacking(raw []byte) Packed { return Packed{bytes: raw, reading: true} }

// Pack is a value as a key: its bytes are in the order of its fields.
func Pack(v Former) []byte {
	p := Packing()
	v.Form(&p)
	return p.Bytes()
}

// Unpack reads a key into v, which must be zero. The error is ErrMalformed.
func Unpack(raw []byte, v Former) error {
	p := Unpacking(raw)
	v.Form(&p)
	return p.Err()
}

// Bytes are the fields that were written.
func (p *Packed) Bytes() []byte { return p.bytes }

// Err is ErrMalformed unless the fields that were read are all that there was to read.
func (p *Packed) Err() error {
	if p.short || len(p.bytes) > 0 {
		return ErrMalformed
	}
	return nil
}

// next cuts n bytes from what is left; nil where there are fewer.
func (p *Packed) next(n int) []byte {
	if p.short || n > len(p.bytes) {
		p.short = true
		return nil
	}
	b := p.bytes[:n]
	p.bytes = p.bytes[n:]
	return b
}

// Fixed is bytes of a length that is known.
func (p *Packed) Fixed(b []byte) {
	if !p.reading {
		p.bytes = append(p.bytes, b...)
		return
	}
	copy(b, p.next(len(b)))
}

// Code is one of n codes, in a byte.
func (p *Packed) Code(c *byte, n int) {
	if !p.reading {
		p.bytes = append(p.bytes, *c)
		return
	}
	if b := p.next(1); b != nil {
		*c = b[0]
		p.short = int(*c) >= n
	}
}

// Flags are at most eight bits, the first one the lowest, in a byte.
func (p *Packed) Flags(flags ...*bool) {
	var bits byte
	for i, f := range flags {
		if *f {
			bits |= 1 << i
		}
	}
	p.Code(&bits, 1<<len(flags))
	for i, f := range flags {
		*f = bits&(1<<i) != 0
	}
}

// Uint64 is 8 bytes, big-endian, so that keys are in the order of numbers.
func (p *Packed) Uint64(n *uint64) {
	if !p.reading {
		p.bytes = binary.BigEndian.AppendUint64(p.bytes, *n)
		return
	}
	if b := p.next(8); b != nil {
		*n = binary.BigEndian.Uint64(b)
	}
}

// Int64 is 8 bytes as Uint64 has them: those below zero come behind the others.
func (p *Packed) Int64(n *int64) {
	bits := uint64(*n)
	p.Uint64(&bits)
	*n = int64(bits)
}

// Varint is a number in as few bytes as it needs.
func (p *Packed) Varint(n *int64) {
	if !p.reading {
		p.bytes = binary.AppendVarint(p.bytes, *n)
		return
	}
	v, size := binary.Varint(p.bytes)
	if p.next(max(size, 0)); size <= 0 {
		p.short = true
	}
	*n = v
}

// Text is text behind its length.
func (p *Packed) Text(s *string) {
	if !p.reading {
		p.bytes = append(binary.AppendUvarint(p.bytes, uint64(len(*s))), *s...)
		return
	}
	n, size := binary.Uvarint(p.bytes)
	if size <= 0 || n > uint64(len(p.bytes)-size) {
		p.short = true
		return
	}
	p.next(size)
	*s = string(p.next(int(n)))
}

// Rest is text that goes on to the end.
func (p *Packed) Rest(s *string) {
	if !p.reading {
		p.bytes = append(p.bytes, *s...)
		return
	}
	*s = string(p.next(len(p.bytes)))
}
