package events_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/seeded"
)

// stored is the stored form of a record of e at position 7.
func stored(t testing.TB, c *events.Codec, e events.Event) []byte {
	t.Helper()
	s, err := c.Seal(events.Draft{ID: sampleID(1), OccurredAt: sampleTime(1), Event: e}, events.Salt{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Place(s, 7, events.SessionIDOf("codex", "s").Stream(), 3, 5, events.Hash{9}, sampleTime(2)).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCarve: a record is read whatever follows it, and one whose payload is damaged or cut keeps its header.
func TestCarve(t *testing.T) {
	t.Parallel()
	c := events.NewCodec()
	random, rng := make([]byte, 40_000), seeded.New(t)
	for i := range random {
		random[i] = byte(rng.IntN(256))
	}
	for name, text := range map[string]string{
		"short": "words", "compressed": string(bytes.Repeat([]byte("words that repeat "), 20_000)), "long": string(random), "zeros": string(make([]byte, 5_000)),
	} {
		b := stored(t, c, events.PromptSubmitted{Text: text})
		if at := events.StoredAt(b); at != 7 {
			t.Errorf("%s: stored at %d, want 7", name, at)
		}
		for _, behind := range [][]byte{nil, {0}, bytes.Repeat([]byte{0}, 300), b} {
			r, size, whole, err := c.Carve(append(bytes.Clone(b), behind...))
			if err != nil || !whole || size != len(b) || r.Position != 7 || r.Check() != nil {
				t.Fatalf("%s and %d bytes: %d of %d bytes, whole %t, %v", name, len(behind), size, len(b), whole, err)
			}
		}
		for _, cut := range []int{len(b) - 1, len(b) / 2} {
			if r, _, whole, err := c.Carve(b[:cut]); cut > events.MaxHeader && (err != nil || whole || !r.Erased || r.Position != 7) {
				t.Errorf("%s cut to %d of %d: whole %t, %+v, %v", name, cut, len(b), whole, r, err)
			}
		}
		bad := bytes.Clone(b)
		bad[len(bad)-1] ^= 1
		if r, size, whole, err := c.Carve(bad); err != nil || whole || !r.Erased || size >= len(b) || r.Stream != events.SessionIDOf("codex", "s").Stream() {
			t.Errorf("%s with a bad payload: %d bytes, whole %t, %+v, %v", name, size, whole, r, err)
		}
	}
}

func TestCarveErased(t *testing.T) {
	t.Parallel()
	c := events.NewCodec()
	r, err := c.Record(stored(t, c, events.PromptSubmitted{Text: "words"}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Erase().AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, size, whole, err := c.Carve(append(bytes.Clone(b), "behind"...))
	if err != nil || !whole || size != len(b) || !got.Erased || got.Withheld || got.Header != r.Header || got.Chain != r.Chain {
		t.Errorf("%d of %d bytes, whole %t, %v", size, len(b), whole, err)
	}
	if b, err = r.Withhold().AppendBinary(nil); err != nil {
		t.Fatal(err)
	}
	got, size, whole, err = c.Carve(append(bytes.Clone(b), "behind"...))
	if err != nil || !whole || size != len(b) || !got.Erased || !got.Withheld || got.Header != r.Header || got.Chain != r.Chain {
		t.Errorf("withheld: %d of %d bytes, whole %t, %v", size, len(b), whole, err)
	}
}

// TestRelay: another place in the stream changes the header and the chain, and never the payload.
func TestRelay(t *testing.T) {
	t.Parallel()
	c := events.NewCodec()
	r, err := c.Record(stored(t, c, events.PromptSubmitted{Text: "words"}))
	if err != nil {
		t.Fatal(err)
	}
	got := r.Relay(2, 4, events.Hash{1})
	if got.Version != 2 || got.Previous != 4 || got.Chain != events.NextChain(events.Hash{1}, got.Header) || got.Check() != nil {
		t.Errorf("got %+v", got.Header)
	}
	if same := r.Relay(r.Version, r.Previous, events.Hash{9}); same.Chain != r.Chain {
		t.Error("in its own place it is another record")
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	var s events.Spans
	for i := range events.Position(events.MaxSpans + 5) {
		s.Add(2 * i)
		s.Add(2*i + 1)
	}
	if len(s.List) != 1 || s.List[0] != (events.Span{To: 2*events.MaxSpans + 9}) {
		t.Errorf("got %v", s.List)
	}
	s = events.Spans{}
	for i := range events.Position(events.MaxSpans + 5) {
		s.Add(2*i + 1)
	}
	if len(s.List) != events.MaxSpans || s.Count != events.MaxSpans+5 {
		t.Errorf("%d spans of %d", len(s.List), s.Count)
	}
}

// FuzzCarve: any bytes are a record or an error; what is whole is what Record reads, too.
func FuzzCarve(f *testing.F) {
	c := events.NewCodec()
	f.Add(stored(f, c, events.PromptSubmitted{Text: "words"}))
	f.Add(stored(f, c, events.PromptSubmitted{Text: string(bytes.Repeat([]byte("words "), 2000))}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, size, whole, err := c.Carve(b)
		if err != nil {
			return
		}
		if size > len(b) || size < 4+int(binary.BigEndian.Uint16(b[2:])) {
			t.Fatalf("%d of %d bytes", size, len(b))
		}
		if same, err := c.Record(b[:size]); whole && (err != nil || same.Header != r.Header || same.Check() != nil) {
			t.Errorf("whole, yet %v", err)
		}
		if at := events.StoredAt(b); at != r.Position {
			t.Errorf("position %d, stored at %d", r.Position, at)
		}
	})
}
