package segment_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
)

// rig has what segments are made with.
type rig struct {
	records *events.Codec
	codec   *segment.Codec
	signer  ed25519.PrivateKey
	epoch   segment.EpochKey
	header  segment.Header
}

func newRig() rig {
	records := events.NewCodec()
	r := rig{
		records: records, codec: segment.NewCodec(records),
		signer: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)), epoch: segment.EpochKey{1, 2, 3},
	}
	r.header = segment.Header{
		Space: [20]byte{9}, Log: events.LogID{8}, Device: [16]byte{7}, Life: 3, SealedAt: time.Unix(1_700_000_000, 5).UTC(), Epoch: 4,
		Reads: []segment.Read{{Log: events.LogID{5}, At: 17}, {Log: events.LogID{6}, At: 1 << 40}},
	}
	return r
}

func (r rig) public() ed25519.PublicKey { return r.signer.Public().(ed25519.PublicKey) }

// log is n records of two streams, each with the text that of gives.
func (r rig) log(tb rapid.TB, n int, of func(i int) string) []events.Record {
	tb.Helper()
	streams := []events.StreamID{events.SessionIDOf("a", "1").Stream(), events.Daemon}
	type head struct {
		version events.Version
		last    events.Position
		chain   events.Hash
	}
	heads := map[events.StreamID]head{}
	records := make([]events.Record, n)
	for i := range records {
		stream := streams[i%2]
		sealed, err := r.records.Seal(events.Draft{
			ID: uuid.UUID{byte(i >> 8), byte(i), 1}, OccurredAt: time.Unix(1_700_000_000, 0), Event: events.PromptSubmitted{Number: i, Text: of(i)},
		}, events.Salt{byte(i), byte(i >> 8), 3})
		if err != nil {
			tb.Fatal(err)
		}
		h := heads[stream]
		at := events.Position(i + 1)
		records[i] = r.records.Place(sealed, at, stream, h.version+1, h.last, h.chain, time.Unix(1_700_000_000, int64(i)))
		heads[stream] = head{h.version + 1, at, records[i].Chain}
	}
	return records
}

// cut seals all records as segments.
func (r rig) cut(tb rapid.TB, records []events.Record, most int) (segments [][]byte) {
	tb.Helper()
	b := segment.NewBatch(events.Hash{})
	for len(records) > 0 {
		ok := b.Len() < most
		if ok {
			var err error
			if ok, err = b.Add(records[0]); err != nil {
				tb.Fatal(err)
			}
		}
		if ok {
			records = records[1:]
		}
		if !ok || len(records) == 0 {
			segments = append(segments, r.codec.Seal(r.header, b, r.signer, r.epoch))
			b = segment.NewBatch(b.Link())
		}
	}
	return segments
}

func (r rig) read(tb rapid.TB, b []byte) (segment.Sealed, []events.Record) {
	tb.Helper()
	s, err := segment.Parse(b)
	if err == nil {
		err = s.Verify(r.public())
	}
	if err != nil {
		tb.Fatal(err)
	}
	records, err := r.codec.Open(s, r.epoch)
	if err != nil {
		tb.Fatal(err)
	}
	return s, records
}

func same(tb rapid.TB, got, want []events.Record) {
	tb.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(events.Record{}), cmpopts.EquateEmpty()); diff != "" {
		tb.Errorf("-want +got:\n%s", diff)
	}
	for i := range min(len(got), len(want)) {
		a, errA := got[i].Event()
		b, errB := want[i].Event()
		if diff := cmp.Diff(b, a); diff != "" || fmt.Sprint(errA) != fmt.Sprint(errB) {
			tb.Errorf("event %d: %v, %v, %s", i, errA, errB, diff)
		}
	}
}

// TestRoundTrip: a log is the same however it is cut, and so are the links at the ends.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	r := newRig()
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 10, 3000, 40_000}), 1, 40).Draw(t, "sizes")
		records := r.log(t, len(sizes), func(i int) string { return strings.Repeat("ab ", sizes[i]/3) })
		for i := range records {
			switch rapid.IntRange(0, 5).Draw(t, "erase") {
			case 0:
				records[i] = records[i].Erase()
			case 1:
				records[i] = records[i].Withhold()
			}
		}
		var link events.Hash
		for range 2 {
			var got []events.Record
			var previous events.Hash
			for _, b := range r.cut(t, records, rapid.IntRange(1, 50).Draw(t, "most")) {
				s, part := r.read(t, b)
				if s.Previous != previous || s.First != events.Position(len(got)+1) {
					t.Fatalf("segment %d does not follow %d records", s.First, len(got))
				}
				if diff := cmp.Diff(r.header.Reads, s.Reads); diff != "" || s.Space != r.header.Space || !s.SealedAt.Equal(r.header.SealedAt) {
					t.Fatalf("the header changed: %s", diff)
				}
				previous, got = s.Link, append(got, part...)
			}
			same(t, got, records)
			if link.IsZero() {
				link = previous
			}
			if previous != link {
				t.Error("another cut gives another link")
			}
		}
	})
}

// TestBounds: as much as a batch takes, of what cannot be compressed, every store takes; what is larger is withheld.
func TestBounds(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.header.Reads = make([]segment.Read, 400)
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(33 + random.IntN(90))
		}
		return string(b)
	}
	sizes := []int{segment.MaxPlain + segment.MaxPlain/2, segment.MaxPlain * 98 / 100}
	records := r.log(t, len(sizes), func(i int) string { return noise(sizes[i]) })
	if ok, err := segment.NewBatch(events.Hash{}).Add(records[0]); ok || err != nil {
		t.Fatalf("%d bytes fit (%v)", sizes[0], err)
	}
	if records[0] = records[0].Withhold(); len(r.cut(t, records, 2)) > 2 {
		t.Error("more segments than records")
	}
	for _, b := range r.cut(t, records, 2) {
		if s, _ := r.read(t, b); len(b) > store.MaxBody || len(s.Reads) != segment.MaxReads {
			t.Errorf("a segment of %d bytes with %d reads", len(b), len(s.Reads))
		}
	}
	many := r.log(t, segment.MaxRecords+1, func(int) string { return "" })
	if n := len(r.cut(t, many, len(many))); n != 2 {
		t.Errorf("%d records make %d segments, want 2", len(many), n)
	}
	b := segment.NewBatch(events.Hash{})
	if _, err := b.Add(many[0]); err != nil {
		t.Fatal(err)
	}
	if ok, err := b.Add(many[2]); err == nil || ok || b.Len() != 1 {
		t.Errorf("a batch took a record behind a gap: %v", err)
	}
}

// TestChanged: no byte of a segment can be another one, and none can be missing or follow.
func TestChanged(t *testing.T) {
	t.Parallel()
	r := newRig()
	whole := r.cut(t, r.log(t, 3, func(i int) string { return fmt.Sprint("words ", i) }), 3)[0]
	refused := func(b []byte) error {
		s, err := segment.Parse(b)
		if err == nil {
			err = s.Verify(r.public())
		}
		if err == nil {
			_, err = r.codec.Open(s, r.epoch)
		}
		return err
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1 << (i % 8)
		if err := refused(b); err == nil {
			t.Errorf("byte %d of %d may be another one", i, len(whole))
		}
		if err := refused(whole[:i]); !errors.Is(err, segment.ErrDamaged) && !errors.Is(err, segment.ErrSignature) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
	if err := refused(append(bytes.Clone(whole), 0)); !errors.Is(err, segment.ErrDamaged) {
		t.Errorf("with a byte behind: %v", err)
	}
	newer := bytes.Clone(whole)
	newer[4]++
	if err := refused(newer); !errors.Is(err, segment.ErrNewer) {
		t.Errorf("of the next format: %v", err)
	}
	s, err := segment.Parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.codec.Open(s, segment.EpochKey{}); !errors.Is(err, segment.ErrDamaged) {
		t.Errorf("with another epoch's key: %v", err)
	}
	stranger := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	if err := s.Verify(stranger); !errors.Is(err, segment.ErrSignature) {
		t.Errorf("signed by another: %v", err)
	}
	if err := s.Verify(nil); !errors.Is(err, segment.ErrSignature) {
		t.Errorf("signed by nobody: %v", err)
	}
}

// TestRewrite: payloads can be left out without the writer, and nothing else can be done.
func TestRewrite(t *testing.T) {
	t.Parallel()
	r := newRig()
	records := r.log(t, 4, func(i int) string { return fmt.Sprintf("secret words %d", i) })
	before := r.cut(t, records, 4)[0]
	s, opened := r.read(t, before)
	opened[1] = opened[1].Erase()
	next := segment.EpochKey{4}
	after, err := r.codec.Rewrite(s, opened, 5, next)
	if err != nil {
		t.Fatal(err)
	}
	r.epoch = next
	again, got := r.read(t, after)
	same(t, got, opened)
	if again.Edition != 1 || again.Epoch != 5 || again.Signature != s.Signature {
		t.Errorf("edition %d, epoch %d", again.Edition, again.Epoch)
	}
	other := r.log(t, 4, func(i int) string { return fmt.Sprintf("other words %d", i) })
	if _, err := r.codec.Rewrite(s, other, 5, next); !errors.Is(err, segment.ErrDamaged) {
		t.Errorf("with other records: %v", err)
	}
	if _, err := r.codec.Rewrite(s, opened[:3], 5, next); !errors.Is(err, segment.ErrDamaged) {
		t.Errorf("with fewer records: %v", err)
	}
}

// TestNothingReadable: what a segment was made of is not in its bytes.
func TestNothingReadable(t *testing.T) {
	t.Parallel()
	r := newRig()
	records := r.log(t, 50, func(i int) string { return fmt.Sprintf("word%dword", i) })
	for _, b := range r.cut(t, records, 7) {
		for i, rec := range records {
			id, ok := rec.Stream.Session()
			if bytes.Contains(b, fmt.Appendf(nil, "word%dword", i)) || bytes.Contains(b, []byte(rec.Kind)) || ok && bytes.Contains(b, id[:]) {
				t.Fatalf("record %d can be read", i)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	r := newRig()
	whole := r.cut(f, r.log(f, 3, func(i int) string { return fmt.Sprint("words ", i) }), 3)[0]
	want, _ := r.read(f, whole)
	f.Add(whole) // another sealing in each process that fuzzes
	f.Add(whole[:len(whole)-1])
	f.Add(whole[:300])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := segment.Parse(b)
		if err != nil {
			return
		}
		if s.Count < 1 || s.Count > segment.MaxRecords || s.Last() < s.First || len(s.Reads) > segment.MaxReads {
			t.Errorf("parsed %+v", s.Header)
		}
		records, err := r.codec.Open(s, r.epoch)
		if err == nil && len(records) != s.Count {
			t.Errorf("%d records, the header says %d", len(records), s.Count)
		}
		if err == nil && s.Verify(r.public()) == nil && s.Link != want.Link {
			t.Error("another segment passes for this one")
		}
	})
}

// FuzzBody gives bodies that whoever has the space's key could have sealed.
func FuzzBody(f *testing.F) {
	r := newRig()
	stored, err := r.log(f, 1, func(int) string { return "words" })[0].AppendBinary([]byte{0, 0, 0, 0})
	if err != nil {
		f.Fatal(err)
	}
	stored[2], stored[3] = byte((len(stored)-4)>>8), byte(len(stored)-4)
	f.Add(stored)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, plain []byte) {
		b := segment.SealPlain(r.codec, r.header, plain, 1, r.epoch)
		s, err := segment.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		if records, err := r.codec.Open(s, r.epoch); err == nil && len(records) != 1 {
			t.Errorf("%d records", len(records))
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	r := newRig()
	records := r.log(b, 512, func(i int) string { return strings.Repeat(fmt.Sprintf("tool output %d ", i), 40) })
	for _, n := range []int{8, 64, 512} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			size := 0
			for b.Loop() {
				batch := segment.NewBatch(events.Hash{})
				for _, rec := range records[:n] {
					if _, err := batch.Add(rec); err != nil {
						b.Fatal(err)
					}
				}
				size = len(r.codec.Seal(r.header, batch, r.signer, r.epoch))
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
			b.ReportMetric(float64(size)/float64(n), "B/record")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	r := newRig()
	whole := r.cut(b, r.log(b, 512, func(i int) string { return strings.Repeat(fmt.Sprintf("tool output %d ", i), 40) }), 512)[0]
	for b.Loop() {
		s, err := segment.Parse(whole)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.codec.Open(s, r.epoch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(512*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
