package segment

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
)

// The bounds of a segment. A segment of MaxPlain bytes is at most 512 KiB when it is sealed, which every store takes.
const (
	MaxRecords = 512
	MaxPlain   = 504 << 10 // bytes of its records as they are stored, each behind four bytes of length
	MaxReads   = 255
)

// A segment's bytes are, with big-endian numbers
//
//	magic 4, format 1, kind 1, space 20, log 16, device 16, life 8, first 8, count 2, sealed at 8 (Unix nanoseconds),
//	previous 32, link 32, number of reads 1, reads (log 16, position 8)
//	signature 64, edition 4, epoch 4, wrapped key 60
//	body
const (
	magic           = "cmsg"
	format          = 1
	fixedHeaderSize = 4 + 1 + 1 + 20 + 16 + 16 + 8 + 8 + 2 + 8 + 32 + 32 + 1
	readLen         = 16 + 8
	tailSize        = ed25519.SignatureSize + 4 + 4 + wrappedKeySize
)

// domain begins what is signed, so that no signature of another thing is one of a segment.
const domain = "cmemd segment\x00"

// Kind says which parts of records a segment holds. Other numbers are left for segments of headers, or of payloads, alone.
type Kind byte

// Whole segments hold records as their log stores them.
const Whole Kind = 1

// Errors of reading a segment.
var (
	// ErrDamaged is returned for bytes that are no segment, or not as they were sealed.
	ErrDamaged = errors.New("segment: damaged")
	// ErrNewer is returned for a format or a kind of a newer program.
	ErrNewer = errors.New("segment: made by a newer cmemd; upgrade this machine's")
	// ErrSignature is returned by Verify where the signature is not the device's.
	ErrSignature = errors.New("segment: not signed by the machine that it names")
)

// Read says how far the writer of a segment had read another log when it sealed the segment: no record in it names a later one.
type Read struct {
	Log events.LogID
	At  events.Position
}

// Header is what a segment says of itself in clear.
type Header struct {
	Space    [20]byte
	Log      events.LogID
	Device   [16]byte // of the machine that signed it
	Life     uint64   // of the writer: counts its starts, from 1
	Kind     Kind
	First    events.Position // of its records, which follow each other without a gap
	Count    int             // 1 to MaxRecords
	SealedAt time.Time
	Previous events.Hash // the link of the record before First
	Link     events.Hash // the link of the last record
	Reads    []Read      // at most MaxReads

	Signature [ed25519.SignatureSize]byte // over all above

	Edition uint32 // of what is sealed: from 0, one more each time that payloads were left out
	Epoch   uint32 // of the space's key that wraps the segment's
}

// Last is the position of the segment's last record.
func (h Header) Last() events.Position { return h.First + events.Position(h.Count) - 1 }

// Verify returns ErrSignature unless the segment was signed with the private half of key.
func (h Header) Verify(key ed25519.PublicKey) error {
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, h.signed(), h.Signature[:]) {
		return fmt.Errorf("%w: %d to %d", ErrSignature, h.First, h.Last())
	}
	return nil
}

func (h *Header) sign(key ed25519.PrivateKey) { copy(h.Signature[:], ed25519.Sign(key, h.signed())) }

func (h Header) signed() []byte { return h.appendSigned([]byte(domain)) }

func (h Header) appendSigned(b []byte) []byte {
	be := binary.BigEndian
	b = append(b, magic...)
	b = append(b, format, byte(h.Kind))
	b = append(b, h.Space[:]...)
	b = append(b, h.Log[:]...)
	b = append(b, h.Device[:]...)
	b = be.AppendUint64(b, h.Life)
	b = be.AppendUint64(b, uint64(h.First))
	b = be.AppendUint16(b, uint16(h.Count))
	b = be.AppendUint64(b, uint64(h.SealedAt.UnixNano()))
	b = append(b, h.Previous[:]...)
	b = append(b, h.Link[:]...)
	b = append(b, byte(len(h.Reads)))
	for _, r := range h.Reads {
		b = be.AppendUint64(append(b, r.Log[:]...), uint64(r.At))
	}
	return b
}

// appendClear appends all that is not signed but sealed with, up to the wrapped key.
func (h Header) appendClear(b []byte) []byte {
	b = append(h.appendSigned(b), h.Signature[:]...)
	b = binary.BigEndian.AppendUint32(b, h.Edition)
	return binary.BigEndian.AppendUint32(b, h.Epoch)
}

// parseHeader returns the header at the beginning of b, and its length with the wrapped key.
func parseHeader(b []byte) (h Header, n int, err error) {
	if len(b) < fixedHeaderSize+tailSize || string(b[:4]) != magic {
		return h, 0, fmt.Errorf("%w: no header in %d bytes", ErrDamaged, len(b))
	}
	if b[4] != format || Kind(b[5]) != Whole {
		return h, 0, fmt.Errorf("%w (format %d, kind %d)", ErrNewer, b[4], b[5])
	}
	reads := int(b[fixedHeaderSize-1])
	if n = fixedHeaderSize + reads*readLen + tailSize; len(b) < n {
		return h, 0, fmt.Errorf("%w: the header is cut", ErrDamaged)
	}
	be := binary.BigEndian
	h = Header{
		Kind: Kind(b[5]), Space: [20]byte(b[6:]), Log: events.LogID(b[26:42]), Device: [16]byte(b[42:]), Life: be.Uint64(b[58:]),
		First: events.Position(be.Uint64(b[66:])), Count: int(be.Uint16(b[74:])), SealedAt: time.Unix(0, int64(be.Uint64(b[76:]))).UTC(),
		Previous: events.Hash(b[84:116]), Link: events.Hash(b[116:148]), Reads: parseReads(b[fixedHeaderSize:], reads),
	}
	rest := b[n-tailSize:]
	copy(h.Signature[:], rest)
	h.Edition, h.Epoch = be.Uint32(rest[len(h.Signature):]), be.Uint32(rest[len(h.Signature)+4:])
	if h.First == 0 || h.Count == 0 || h.Count > MaxRecords || h.Last() < h.First {
		return h, 0, fmt.Errorf("%w: %d records from %d", ErrDamaged, h.Count, h.First)
	}
	return h, n, nil
}

func parseReads(b []byte, n int) (reads []Read) {
	for i := range n {
		r := b[i*readLen:]
		reads = append(reads, Read{Log: events.LogID(r[:16]), At: events.Position(binary.BigEndian.Uint64(r[16:]))})
	}
	return reads
}
