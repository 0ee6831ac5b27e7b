package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/events"
)

// Codec turns stored values into bytes and back: CBOR with numbered fields, or packed where it is a Former.
// BenchmarkRowCodec has the reason: a row of 900 bytes takes 20 us there and back, 27 us as JSON.
type Codec struct {
	enc     cbor.UserBufferEncMode
	dec     cbor.DecMode
	buffers sync.Pool // of *bytes.Buffer
	packs   sync.Pool // of *Packed
}

// NewCodec returns the codec of all stored values. It is safe for concurrent use.
func NewCodec() *Codec {
	enc, err1 := cbor.EncOptions{
		Sort: cbor.SortBytewiseLexical, Time: cbor.TimeRFC3339NanoUTC,
		BinaryMarshaler: cbor.BinaryMarshalerNone, TextMarshaler: cbor.TextMarshalerNone,
	}.UserBufferEncMode()
	dec, err2 := cbor.DecOptions{
		UTF8: cbor.UTF8DecodeInvalid, BinaryUnmarshaler: cbor.BinaryUnmarshalerNone,
		TextUnmarshaler: cbor.TextUnmarshalerNone, TagsMd: cbor.TagsForbidden,
	}.DecMode()
	if err := errors.Join(err1, err2); err != nil {
		panic(err) // the options are constants
	}
	return &Codec{enc: enc, dec: dec}
}

// form has v write its fields to p, or read them from it. p itself is taken from packs: it would be one more allocation a value.
func (c *Codec) form(p Packed, v Former) Packed {
	one, _ := c.packs.Get().(*Packed)
	if one == nil {
		one = new(Packed)
	}
	*one = p
	v.Form(one)
	p, *one = *one, Packed{}
	c.packs.Put(one)
	return p
}

// Append appends the stored form of what v points to.
func (c *Codec) Append(to []byte, v any) ([]byte, error) {
	if own, ok := v.(Former); ok {
		p := c.form(Packed{bytes: to}, own)
		return p.Bytes(), nil
	}
	buf, _ := c.buffers.Get().(*bytes.Buffer)
	if buf == nil {
		buf = new(bytes.Buffer)
	}
	defer c.buffers.Put(buf)
	buf.Reset()
	if err := c.enc.MarshalToBuffer(v, buf); err != nil {
		return nil, err
	}
	return append(to, buf.Bytes()...), nil
}

// Encode returns the stored form of what v points to.
func (c *Codec) Encode(v any) ([]byte, error) { return c.Append(nil, v) }

// Decode reads raw, which belongs to the transaction, into v, which does not keep it.
func (c *Codec) Decode(raw []byte, v any) error {
	if own, ok := v.(Former); ok {
		p := c.form(Unpacking(raw), own)
		return p.Err()
	}
	return c.dec.Unmarshal(raw, v)
}

// Ref is an index entry's value: the id of a row.
type Ref events.ID

// Form is the 16 bytes.
func (r *Ref) Form(p *Packed) { p.Fixed(r[:]) }

// MarshalText is the usual form of a UUID, for people.
func (r Ref) MarshalText() ([]byte, error) { return uuid.UUID(r).MarshalText() }

// Member is the value of a table that is only a set.
type Member struct{}

// Form is one byte: a value is never empty, or Get could not tell it from none.
func (*Member) Form(p *Packed) {
	one := byte(1)
	p.Code(&one, 2)
}

// MarshalText is for people.
func (Member) MarshalText() ([]byte, error) { return []byte("yes"), nil }

// Keys are fixed parts side by side, big-endian, so that their order is that of their meaning.

// IDKey is the 16 bytes of an id, which it shares.
func IDKey(id events.ID) []byte { return id[:] }

// SessionKey is the 16 bytes of a session's id, which it shares.
func SessionKey(s events.SessionID) []byte { return s[:] }

// PositionKey is a position in 8 bytes.
func PositionKey(p events.Position) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(p))
}

// PlaceKey is a session followed by a position, 24 bytes.
func PlaceKey(s events.SessionID, p events.Position) []byte {
	b := append(make([]byte, 0, 24), s[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(p))
}

// KeyPosition is the position in the last 8 bytes of a key; 0 where it is shorter.
func KeyPosition(b []byte) events.Position {
	if len(b) < 8 {
		return 0
	}
	return events.Position(binary.BigEndian.Uint64(b[len(b)-8:]))
}

// ProjectID stands for a project's root in keys: of one length, whatever the path. The zero one stands for all.
type ProjectID [16]byte

// ProjectIDOf returns what stands for a root.
func ProjectIDOf(root string) ProjectID {
	sum := sha256.Sum256([]byte(root))
	return ProjectID(sum[:16])
}

// TimeKey orders what lies in a project by a time, then by position: 32 bytes.
func TimeKey(p ProjectID, at time.Time, pos events.Position) []byte {
	b := append(make([]byte, 0, 32), p[:]...)
	b = binary.BigEndian.AppendUint64(b, TimeBits(at))
	return binary.BigEndian.AppendUint64(b, uint64(pos))
}

// TimeBits maps times to numbers of the same order. Times out of the range of Unix nanoseconds go to its ends.
func TimeBits(t time.Time) uint64 {
	const flip = 1 << 63
	switch {
	case t.Before(time.Unix(0, -1<<63)):
		return 0
	case t.After(time.Unix(0, 1<<63-1)):
		return 1<<64 - 1
	}
	return uint64(t.UnixNano()) ^ flip
}

// ShowID shows a key that is a UUID, others as ShowHex.
func ShowID(b []byte) string {
	id, err := uuid.FromBytes(b)
	if err != nil {
		return hex.EncodeToString(b)
	}
	return id.String()
}

// ShowPosition shows the position that a key ends with.
func ShowPosition(b []byte) string { return fmt.Sprint(KeyPosition(b)) }

// ShowPlace shows a UUID followed by a position.
func ShowPlace(b []byte) string {
	if len(b) != 24 {
		return hex.EncodeToString(b)
	}
	return ShowID(b[:16]) + "/" + ShowPosition(b[16:])
}

// ShowText shows a key that is text.
func ShowText(b []byte) string { return string(b) }

// ShowHex shows any key.
func ShowHex(b []byte) string { return hex.EncodeToString(b) }
