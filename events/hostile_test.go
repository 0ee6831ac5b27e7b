package events_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/cmemd/cmemd/events"
)

// What reading hostile bytes may allocate: a constant for pools that fill up, the decompressed payload twice at its
// highest ratio, and for each payload byte the largest thing one byte can stand for (an element of a list of claims).
const (
	slack         = 1 << 20
	perStored     = 2 * 256
	perDecodedFew = 160
)

// allocated is what f allocates, in bytes, with whatever else the program does meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// withPayload is a stored record of kind k that says it holds size bytes, with payload in place of its own.
func withPayload(t testing.TB, codec *events.Codec, k events.Kind, size uint32, compressed bool, payload []byte) []byte {
	t.Helper()
	_, r := sealed(t, codec, events.Draft{Event: events.SessionClosed{Cause: "x"}}, events.Daemon)
	r.Kind, r.Size = k, size
	b := store(t, r)
	const salt, own = 16, 1 + 1 + 2 // {1: "x"}
	b = append(b[:len(b)-own:len(b)-own], payload...)
	if compressed {
		b[1] |= 1
	}
	return b
}

func zstdFrame(t testing.TB, body []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(body, nil)
}

// lyingFrame is a frame that says it holds size bytes and holds body.
func lyingFrame(t testing.TB, size uint32, body []byte) []byte {
	t.Helper()
	frame := zstdFrame(t, bytes.Repeat([]byte{'x'}, 70000)) // over 64 KiB, so the size takes four bytes
	frame = binary.LittleEndian.AppendUint32(frame[:5:5], size)
	block := binary.LittleEndian.AppendUint32(nil, uint32(len(body))<<3|1) // one raw block, the last
	return append(append(frame, block[:3]...), body...)
}

// TestFrameBuilder proves that what is refused below is refused for what it says, not for how it was made.
func TestFrameBuilder(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	want := events.ToolUsed{Output: strings.Repeat("x", 200)}
	body, _, err := codec.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"lying frame": withPayload(t, codec, events.KindToolUsed, uint32(len(body)), true, lyingFrame(t, uint32(len(body)), body)),
		"zstd frame":  withPayload(t, codec, events.KindToolUsed, uint32(len(body)), true, zstdFrame(t, body)),
		"plain":       withPayload(t, codec, events.KindToolUsed, uint32(len(body)), false, body),
	} {
		r, err := codec.Record(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, err := r.Event(); err != nil || e.(events.ToolUsed).Output != want.Output {
			t.Errorf("%s: a truthful one reads as %v, %v", name, e, err)
		}
	}
}

// bomb is stored bytes that promise more than they are.
type bomb struct {
	name string
	b    []byte
}

func bombs(t testing.TB, codec *events.Codec) []bomb {
	zeros := zstdFrame(t, make([]byte, events.MaxPayload))
	small := zstdFrame(t, bytes.Repeat([]byte("memory "), 200))
	at := func(size uint32, frame []byte) []byte {
		return withPayload(t, codec, events.KindToolUsed, size, true, frame)
	}
	plain := func(body []byte) []byte {
		return withPayload(t, codec, events.KindToolUsed, uint32(len(body)), false, body)
	}
	return []bomb{
		{"16 MiB of zeros", at(events.MaxPayload, zeros)},
		{"ratio over 256", at(257*uint32(len(small)), small)},
		{"header says less than the frame", at(100, zeros)},
		{"frame says 16 MiB, holds 10 bytes", at(events.MaxPayload, lyingFrame(t, events.MaxPayload, make([]byte, 10)))},
		{"frame and header say 20000, frame holds 100", at(20000, lyingFrame(t, 20000, make([]byte, 100)))},
		{"frame says 100, holds 60000", at(100, lyingFrame(t, 100, make([]byte, 60000)))},
		{"frame says 4 GiB", at(1<<32-1, lyingFrame(t, 1<<32-1, make([]byte, 10)))},
		{"two frames", at(1400, append(slices.Clone(small), small...))},
		{"a skippable frame", at(16, []byte{0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0x7f, 0, 0})},
		{"no frame", at(4, []byte("none"))},
		{"an empty frame", at(0, nil)},
		{"an array of 2^32 elements", plain([]byte{0xa1, 0x06, 0x9b, 0, 0, 0, 1, 0, 0, 0, 0})},
		{"a map of 2^32 pairs", plain([]byte{0xa1, 0x0c, 0xbb, 0, 0, 0, 1, 0, 0, 0, 0})},
		{"an event of 2^62 fields", plain([]byte{0xbb, 0x40, 0, 0, 0, 0, 0, 0, 0})},
		{"a text of 2^40 bytes", plain([]byte{0xa1, 0x02, 0x7b, 0, 0, 1, 0, 0, 0, 0, 0, 'x'})},
		{"nested 10,000 deep", plain(append(bytes.Repeat([]byte{0x81}, 10000), 0))},
		{"a field nested 10,000 deep", plain(append([]byte{0xa1, 0x02}, append(bytes.Repeat([]byte{0x81}, 10000), 0)...))},
		{"maps nested 10,000 deep", plain(append(bytes.Repeat([]byte{0xa1, 0x01}, 10000), 0))},
		{"an array without an end", plain([]byte{0xa1, 0x06, 0x9f, 1, 2, 3})},
		{"a tag", plain([]byte{0xc2, 0x41, 1})},
		{"nothing", plain(nil)},
		{"two events", plain([]byte{0xa0, 0xa0})},
		{"a number where a text belongs", plain([]byte{0xa1, 0x02, 0x07})},
		{"no map", plain([]byte{0x07})},
	}
}

func TestBombsAreRefused(t *testing.T) {
	codec := events.NewCodec()
	warm(t, codec)
	for _, bomb := range bombs(t, codec) {
		var err error
		got := allocated(func() {
			var r events.Record
			if r, err = codec.Record(bomb.b); err == nil {
				_, err = r.Event()
			}
		})
		if !errors.Is(err, events.ErrCorrupt) {
			t.Errorf("%s: %v, want %v", bomb.name, err, events.ErrCorrupt)
		}
		if limit := uint64(slack/8 + 8*len(bomb.b)); got > limit {
			t.Errorf("%s: %d bytes of input made it allocate %d, more than %d", bomb.name, len(bomb.b), got, limit)
		}
	}
}

// warm lets the codec make what it keeps, so that it is not counted.
func warm(t testing.TB, codec *events.Codec) {
	t.Helper()
	for range 8 {
		_, r := sealed(t, codec, events.Draft{Event: events.ToolUsed{Output: strings.Repeat("words and words ", 9000)}}, events.Daemon)
		r, err := codec.Record(store(t, r))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Event(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManySmallThings reads the worst that well-formed bytes can do: elements of one byte that become structs.
func TestManySmallThings(t *testing.T) {
	codec := events.NewCodec()
	warm(t, codec)
	list := func(field byte, n int, element ...byte) []byte {
		head := []byte{0xa1, field, 0x9a, 0, 0, 0, 0}
		binary.BigEndian.PutUint32(head[3:], uint32(n))
		return append(head, bytes.Repeat(element, n)...)
	}
	for _, tc := range []struct {
		name string
		kind events.Kind
		body []byte
	}{
		{"claims", events.KindObservationParsed, list(13, 131072, 0xa0)},
		{"facts", events.KindObservationParsed, list(8, 131072, 0x60)},
		{"positions", events.KindInputsDropped, list(1, 131072, 0x00)},
		{"ids", events.KindContextInjected, list(2, 131072, 0x40)},
	} {
		got := allocated(func() { _, _ = codec.Decode(tc.kind, 1, tc.body) })
		if limit := uint64(slack/8 + perDecodedFew*len(tc.body)); got > limit {
			t.Errorf("%s: %d bytes made it allocate %d, more than %d", tc.name, len(tc.body), got, limit)
		}
	}
	over := list(13, 131073, 0xa0)
	var err error
	got := allocated(func() { _, err = codec.Decode(events.KindObservationParsed, 1, over) })
	if !errors.Is(err, events.ErrCorrupt) || got > slack/8 {
		t.Errorf("a list over the limit: %v after allocating %d", err, got)
	}
}

// TestSessionsByName: a session's stream has one stored form, its 16 bytes. By name it would be chained otherwise than it is stored again.
func TestSessionsByName(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	name := string(events.SessionIDOf("a", "b").Stream())
	other := strings.Repeat("x", len(name))
	_, r := sealed(t, codec, events.Draft{ID: sampleID(1), Event: events.PromptSubmitted{Text: "a"}}, events.StreamID(other))
	b := store(t, r)
	if _, err := codec.Record(b); err != nil {
		t.Fatal(err)
	}
	if r, err := codec.Record(bytes.Replace(b, []byte(other), []byte(name), 1)); !errors.Is(err, events.ErrCorrupt) {
		t.Errorf("got %+v, %v, want ErrCorrupt", r, err)
	}
}

func FuzzRecord(f *testing.F) {
	codec := events.NewCodec()
	warm(f, codec)
	for _, e := range samples() {
		_, r := sealed(f, codec, events.Draft{ID: sampleID(1), Event: e, OccurredAt: sampleTime(1)}, events.SessionIDOf("a", "b").Stream())
		f.Add(store(f, r))
		f.Add(store(f, r.Erase()))
	}
	for _, bomb := range bombs(f, codec) {
		if len(bomb.b) < 4096 {
			f.Add(bomb.b)
		}
	}
	_, r := sealed(f, codec, events.Draft{Event: events.ToolUsed{Output: strings.Repeat("go test ok ", 150)}}, events.Daemon)
	f.Add(store(f, r))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, limit := allocated(func() { readAll(t, codec, b) }), uint64(slack+(perStored+perDecodedFew*256)*len(b)); got > limit {
			t.Errorf("%d bytes made it allocate %d, more than %d", len(b), got, limit)
		}
	})
}

// readAll reads b in every way there is. What reads back must store back as it was, and every error has its name.
func readAll(t *testing.T, codec *events.Codec, b []byte) {
	r, err := codec.Record(b)
	if err != nil {
		if !errors.Is(err, events.ErrCorrupt) && !errors.Is(err, events.ErrUnknownKind) {
			t.Errorf("Record says %v", err)
		}
		return
	}
	again, err := r.AppendBinary(nil)
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("read and stored again it differs: %v\n%x\n%x", err, b, again)
	}
	if err := r.Check(); err != nil && !errors.Is(err, events.ErrCorrupt) {
		t.Errorf("Check says %v", err)
	}
	e, err := r.Event()
	switch {
	case err == nil && events.KindOf(e) != r.Kind:
		t.Errorf("a record of %s holds %s", r.Kind, events.KindOf(e))
	case err != nil && !errors.Is(err, events.ErrCorrupt) && !errors.Is(err, events.ErrUnknownKind) && !errors.Is(err, events.ErrErased):
		t.Errorf("Event says %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	codec, all := events.NewCodec(), samples()
	for i, e := range all {
		payload, _, err := codec.Encode(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), payload)
	}
	f.Fuzz(func(t *testing.T, i uint8, payload []byte) {
		kind := events.KindOf(all[int(i)%len(all)])
		got := allocated(func() { decodeTwice(t, codec, kind, payload) })
		if limit := uint64(slack + 3*perDecodedFew*len(payload)); got > limit {
			t.Errorf("%s: %d bytes made it allocate %d, more than %d", kind, len(payload), got, limit)
		}
	})
}

// decodeTwice decodes, encodes and decodes again: the second event must be the first.
func decodeTwice(t *testing.T, codec *events.Codec, kind events.Kind, payload []byte) {
	e, err := codec.Decode(kind, 1, payload)
	if err != nil {
		if !errors.Is(err, events.ErrCorrupt) {
			t.Errorf("%s: Decode says %v", kind, err)
		}
		return
	}
	b, schema, err := codec.Encode(e)
	if err != nil {
		t.Errorf("%s: what was decoded cannot be encoded: %v", kind, err)
		return
	}
	again, err := codec.Decode(kind, schema, b)
	if err != nil {
		t.Errorf("%s: what was encoded cannot be decoded: %v", kind, err)
		return
	}
	if second, _, err := codec.Encode(again); err != nil || len(second) != len(b) {
		t.Errorf("%s: %v, encoded as %x and then as %x", kind, err, b, second)
	}
}
