package events

import (
	"errors"
	"fmt"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"
)

const (
	// MaxPayload is the largest payload in bytes before compression: an output of 10 MB must fit, a bomb must not.
	MaxPayload = 16 << 20

	// compressOver is the payload size above which zstd is tried: below it the frame costs more than it saves.
	compressOver = 1 << 10

	// maxRatio is the highest compression that is stored and accepted. What compresses better is stored as it is, so
	// that reading hostile bytes never allocates more than this many times their length.
	maxRatio = 256

	// maxElements bounds an array or map of a payload when it is read, so Seal holds to it too.
	maxElements = 128 << 10
)

// Codec turns drafts into records and records into events. It is safe for concurrent use; one serves a program.
type Codec struct {
	enc   cbor.EncMode
	dec   cbor.DecMode
	zip   *zstd.Encoder
	unzip *zstd.Decoder
}

// NewCodec returns a codec. It holds about 1 MiB once it has compressed something, and no goroutine.
func NewCodec() *Codec {
	c := &Codec{}
	var errs [4]error
	c.enc, errs[0] = cbor.EncOptions{
		Sort: cbor.SortNone, Time: cbor.TimeRFC3339NanoUTC, BinaryMarshaler: cbor.BinaryMarshalerNone,
		TextMarshaler: cbor.TextMarshalerNone, NaNConvert: cbor.NaNConvertReject, InfConvert: cbor.InfConvertReject,
	}.EncMode()
	c.dec, errs[1] = cbor.DecOptions{
		UTF8: cbor.UTF8DecodeInvalid, MaxNestedLevels: 8, MaxArrayElements: maxElements, MaxMapPairs: maxElements,
		BinaryUnmarshaler: cbor.BinaryUnmarshalerNone,
		TextUnmarshaler:   cbor.TextUnmarshalerNone, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		NaN: cbor.NaNDecodeForbidden, Inf: cbor.InfDecodeForbidden, // neither has a form in JSON
	}.DecMode()
	c.zip, errs[2] = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	c.unzip, errs[3] = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(MaxPayload),
		zstd.WithDecoderLowmem(true))
	if err := errors.Join(errs[:]...); err != nil {
		panic(err) // the options are constants
	}
	return c
}

// Sealed is a draft whose payload is encoded, hashed and compressed: all that can be done before its place is known.
type Sealed struct {
	draft      Draft
	schema     uint16
	size       uint32
	hash       Hash
	salt       Salt
	payload    []byte
	compressed bool
}

// Size is the length of what Place will make of s, in bytes, give or take the stream's name.
func (s Sealed) Size() int { return prologue + fixedHeader + 3*len(Hash{}) + len(s.payload) }

// Seal encodes d with the given salt, which must be random and used once. The error is ErrTooLarge.
func (c *Codec) Seal(d Draft, salt Salt) (Sealed, error) {
	body, err := c.enc.Marshal(d.Event)
	if err != nil {
		return Sealed{}, fmt.Errorf("events: encode %s: %w", KindOf(d.Event), err)
	}
	if len(body) > MaxPayload {
		return Sealed{}, fmt.Errorf("%w: %s of %d bytes, at most %d", ErrTooLarge, KindOf(d.Event), len(body), MaxPayload)
	}
	if len(body) > maxElements { // a list that is too long has more bytes than elements
		if err := c.dec.Wellformed(body); err != nil {
			return Sealed{}, fmt.Errorf("%w: %s: %s", ErrTooLarge, KindOf(d.Event), err)
		}
	}
	s := Sealed{
		draft: d, schema: schemaOf(d.Event), size: uint32(len(body)),
		salt: salt, hash: hashOf(salt[:], body), payload: body,
	}
	s.draft.OccurredAt = time.Unix(0, s.draft.OccurredAt.UnixNano()).UTC() // as it will be read back
	if len(body) > compressOver {
		if z := c.zip.EncodeAll(body, make([]byte, 0, len(body)/2)); len(z) < len(body) && len(body) <= maxRatio*len(z) {
			s.payload, s.compressed = z, true
		}
	}
	return s, nil
}

// Place gives a sealed draft its place and chains it: the record after one of the same stream at previous with
// chain prev. RecordedAt is the caller's, who keeps it from decreasing.
func (c *Codec) Place(s Sealed, at Position, stream StreamID, v Version, previous Position, prev Hash, recordedAt time.Time) Record {
	d := s.draft
	r := Record{
		Header: Header{
			Position: at, Stream: stream, Version: v, Previous: previous, ID: d.ID, Kind: KindOf(d.Event), Schema: s.schema,
			Unobserved: d.Unobserved, Key: d.Key, OccurredAt: d.OccurredAt, RecordedAt: recordedAt.Round(0).UTC(),
			Causation: d.Causation, Correlation: d.Correlation, Size: s.size, PayloadHash: s.hash,
		},
		compressed: s.compressed, salt: s.salt, payload: s.payload, codec: c,
	}
	r.Chain = NextChain(prev, r.Header)
	return r
}

func (c *Codec) decode(k Kind, schema uint16, body []byte) (Event, error) {
	forms := k.known().forms
	if schema == 0 || int(schema) > len(forms) || forms[schema-1] == nil {
		return nil, fmt.Errorf("%w: %q schema %d", ErrUnknownKind, k, schema)
	}
	e, err := forms[schema-1](c.dec, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrCorrupt, err)
	}
	return e, nil
}

func (c *Codec) decompress(z []byte, size int) ([]byte, error) {
	if size > MaxPayload || size > maxRatio*len(z) {
		return nil, fmt.Errorf("%w: %d bytes said to hold %d", ErrCorrupt, len(z), size)
	}
	var frame zstd.Header
	if err := frame.Decode(z); err != nil || !frame.HasFCS || frame.FrameContentSize != uint64(size) {
		return nil, fmt.Errorf("%w: compressed frame does not hold the %d bytes it should", ErrCorrupt, size)
	}
	body, err := c.unzip.DecodeAll(z, make([]byte, 0, size))
	if err != nil || len(body) != size {
		return nil, fmt.Errorf("%w: compressed payload: got %d of %d bytes: %v", ErrCorrupt, len(body), size, err)
	}
	return body, nil
}

// Decode reads a payload of kind k in the given schema. Errors: ErrUnknownKind, ErrCorrupt, ErrTooLarge.
func (c *Codec) Decode(k Kind, schema uint16, payload []byte) (Event, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(payload))
	}
	return c.decode(k, schema, payload)
}
