package events

import (
	"encoding/binary"
	"fmt"
	"time"
)

// A stored record is
//
//	byte 0      layout, 1
//	byte 1      state: compressed, erased, withheld (not chained: erasing changes it)
//	bytes 2..3  length of the header
//	header      see appendHeader (chained)
//	chain       32 bytes
//	salt        16 bytes   } absent when erased
//	payload     the rest   }
//
// All numbers are big-endian. A session's stream is stored as its 16 bytes, any other by name.
const (
	layoutVersion = 1

	stateCompressed = 1 << 0
	stateErased     = 1 << 1
	stateWithheld   = 1 << 2 // beside stateErased

	flagUnobserved    = 1 << 0
	flagSessionStream = 1 << 1

	prologue    = 4
	fixedHeader = 1 + 2 + 8*5 + 16*4 + 4 + 32 + 1 + 1
	maxKind     = 255
)

// appendHeader appends the header's stored form: flags, schema, position, version, previous, occurred and recorded
// in Unix nanoseconds, id, key, causation, correlation, size, payload hash, kind, stream.
func appendHeader(b []byte, h Header) []byte {
	id, isSession := h.Stream.Session()
	b = append(b, headerFlags(h, isSession))
	b = binary.BigEndian.AppendUint16(b, h.Schema)
	b = binary.BigEndian.AppendUint64(b, uint64(h.Position))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Version))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Previous))
	b = binary.BigEndian.AppendUint64(b, uint64(h.OccurredAt.UnixNano()))
	b = binary.BigEndian.AppendUint64(b, uint64(h.RecordedAt.UnixNano()))
	b = append(b, h.ID[:]...)
	b = append(b, h.Key[:]...)
	b = append(b, h.Causation[:]...)
	b = append(b, h.Correlation[:]...)
	b = binary.BigEndian.AppendUint32(b, h.Size)
	b = append(b, h.PayloadHash[:]...)
	b = append(b, byte(len(h.Kind)))
	b = append(b, h.Kind...)
	if isSession {
		b = append(b, byte(len(id)))
		return append(b, id[:]...)
	}
	b = append(b, byte(len(h.Stream)))
	return append(b, h.Stream...)
}

func headerFlags(h Header, isSession bool) byte {
	var f byte
	if h.Unobserved {
		f |= flagUnobserved
	}
	if isSession {
		f |= flagSessionStream
	}
	return f
}

// parseHeader reads what appendHeader wrote and nothing else. Kinds that are known are not allocated.
func parseHeader(b []byte) (Header, error) {
	if len(b) < fixedHeader {
		return Header{}, fmt.Errorf("header of %d bytes: %w", len(b), ErrCorrupt)
	}
	be := binary.BigEndian
	h := Header{
		Unobserved: b[0]&flagUnobserved != 0,
		Schema:     be.Uint16(b[1:]),
		Position:   Position(be.Uint64(b[3:])),
		Version:    Version(be.Uint64(b[11:])),
		Previous:   Position(be.Uint64(b[19:])),
		OccurredAt: time.Unix(0, int64(be.Uint64(b[27:]))).UTC(),
		RecordedAt: time.Unix(0, int64(be.Uint64(b[35:]))).UTC(),
		ID:         ID(b[43:59]), Key: Key(b[59:75]), Causation: ID(b[75:91]), Correlation: ID(b[91:107]),
		Size:        be.Uint32(b[107:]),
		PayloadHash: Hash(b[111:143]),
	}
	kind, rest, ok := cutShort(b[143:])
	if !ok {
		return Header{}, fmt.Errorf("header: kind cut: %w", ErrCorrupt)
	}
	stream, rest, ok := cutShort(rest)
	if !ok || len(rest) != 0 {
		return Header{}, fmt.Errorf("header: stream cut or followed by %d bytes: %w", len(rest), ErrCorrupt)
	}
	h.Kind = nameOf(kind)
	return withStream(h, b[0], stream)
}

func withStream(h Header, flags byte, stream []byte) (Header, error) {
	if flags&^(flagUnobserved|flagSessionStream) != 0 {
		return Header{}, fmt.Errorf("header flags %#x: %w", flags, ErrCorrupt)
	}
	if flags&flagSessionStream == 0 {
		h.Stream = StreamID(stream)
		if _, ok := h.Stream.Session(); ok {
			return Header{}, fmt.Errorf("header: session stream by name: %w", ErrCorrupt)
		}
		return h, nil
	}
	if len(stream) != 16 {
		return Header{}, fmt.Errorf("header: session of %d bytes: %w", len(stream), ErrCorrupt)
	}
	h.Stream = SessionID(stream).Stream()
	return h, nil
}

func cutShort(b []byte) (head, rest []byte, ok bool) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return nil, nil, false
	}
	n := 1 + int(b[0])
	return b[1:n], b[n:], true
}

// Record reads a stored record. It aliases b, which must not change while the record is in use. The payload is
// neither decoded nor checked. The error is ErrCorrupt, or ErrUnknownKind for a newer layout.
func (c *Codec) Record(b []byte) (Record, error) {
	if len(b) < prologue {
		return Record{}, fmt.Errorf("record of %d bytes: %w", len(b), ErrCorrupt)
	}
	if b[0] != layoutVersion {
		return Record{}, fmt.Errorf("record layout %d, this program reads %d: %w", b[0], layoutVersion, ErrUnknownKind)
	}
	state, n := b[1], int(binary.BigEndian.Uint16(b[2:]))
	if state&^(stateCompressed|stateErased|stateWithheld) != 0 || len(b) < prologue+n+len(Hash{}) {
		return Record{}, fmt.Errorf("record of %d bytes, header %d, state %#x: %w", len(b), n, state, ErrCorrupt)
	}
	h, err := parseHeader(b[prologue : prologue+n])
	if err != nil {
		return Record{}, err
	}
	r := Record{Header: h, codec: c, Erased: state&stateErased != 0, Withheld: state&stateWithheld != 0, compressed: state&stateCompressed != 0}
	if r.Withheld && !r.Erased {
		return Record{}, fmt.Errorf("record %d: withheld, yet not without its payload: %w", r.Position, ErrCorrupt)
	}
	rest := b[prologue+n+copy(r.Chain[:], b[prologue+n:]):]
	return r.withPayload(rest)
}

func (r Record) withPayload(rest []byte) (Record, error) {
	if r.Erased {
		if len(rest) != 0 {
			return Record{}, fmt.Errorf("record %d: erased, yet %d bytes follow: %w", r.Position, len(rest), ErrCorrupt)
		}
		return r, nil
	}
	if len(rest) < len(r.salt) {
		return Record{}, fmt.Errorf("record %d: payload cut: %w", r.Position, ErrCorrupt)
	}
	r.payload = rest[copy(r.salt[:], rest):]
	if r.Size > MaxPayload || !r.compressed && len(r.payload) != int(r.Size) {
		return Record{}, fmt.Errorf("record %d: payload of %d bytes, header says %d: %w", r.Position, len(r.payload), r.Size, ErrCorrupt)
	}
	return r, nil
}

// AppendBinary appends the record's stored form: what Codec.Record reads. Errors: ErrTooLarge, for a stream's name over MaxStream, and
// ErrMoved.
func (r Record) AppendBinary(b []byte) ([]byte, error) {
	if r.moved != nil {
		return b, fmt.Errorf("record %d: %w", r.Position, ErrMoved)
	}
	if len(r.Stream) > MaxStream {
		return b, fmt.Errorf("%w: stream name of %d bytes, at most %d", ErrTooLarge, len(r.Stream), MaxStream)
	}
	var state byte
	if r.compressed {
		state |= stateCompressed
	}
	if r.Erased {
		state |= stateErased
	}
	if r.Withheld {
		state |= stateWithheld
	}
	start := len(b)
	b = append(b, layoutVersion, state, 0, 0)
	b = appendHeader(b, r.Header)
	binary.BigEndian.PutUint16(b[start+2:], uint16(len(b)-start-prologue))
	b = append(b, r.Chain[:]...)
	if r.Erased {
		return b, nil
	}
	b = append(b, r.salt[:]...)
	return append(b, r.payload...), nil
}

// Erase returns r without its payload: what an engine stores in its place.
func (r Record) Erase() Record {
	r.Erased, r.Withheld, r.compressed, r.salt, r.payload = true, false, false, Salt{}, nil
	return r
}

// Withhold returns r as a copy keeps it whose owner keeps the payload: without it, as erased, and marked. An erased record stays one.
func (r Record) Withhold() Record {
	withheld := r.Withheld || !r.Erased
	r = r.Erase()
	r.Withheld = withheld
	return r
}

// PayloadSize is how many bytes r's payload takes where it is stored.
func (r Record) PayloadSize() int {
	if r.Erased {
		return 0
	}
	return len(r.salt) + len(r.payload)
}

// PayloadRoom is how many bytes of memory r's payload takes, where nothing else lies in the same buffer.
func (r Record) PayloadRoom() int { return cap(r.payload) }
