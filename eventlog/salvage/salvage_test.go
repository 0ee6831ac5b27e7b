package salvage_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/salvage"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
)

func seededRandom(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 0)) }

// TestHealthy: the salvage of a log that is not damaged is the same records.
func TestHealthy(t *testing.T) {
	t.Parallel()
	for _, compact := range []bool{false, true} {
		o := newOriginal(t, seededRandom(1), 150, compact)
		s := read(t, o.file)
		if !s.Whole() || int(s.Last) != len(o.records) || s.Records != uint64(len(o.records)) {
			t.Fatalf("whole %t, %d of %d records, moved %d", s.Whole(), s.Records, s.Last, s.Moved)
		}
		got := written(t, s)
		for i, was := range o.records {
			if got[i].Header != was.Header || got[i].Chain != was.Chain || got[i].Erased != was.Erased {
				t.Fatalf("position %d: got %+v, want %+v", i+1, got[i].Header, was.Header)
			}
		}
	}
}

// TestErasedStays: an old page that holds a payload which was erased since gives it to nobody, and neither does a log whose erasure
// was recorded or noted and not carried out.
func TestErasedStays(t *testing.T) {
	t.Parallel()
	o := newOriginal(t, seededRandom(3), 60, true)
	victim := o.records[20]
	if victim.Erased {
		t.Fatal("choose another one")
	}
	at := bytes.Index(o.file, o.stored[20])
	erased, err := victim.Erase().AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	page := make([]byte, pageSize)
	copy(page[100:], binary.BigEndian.AppendUint64(nil, 21))
	copy(page[108:], erased)
	for name, file := range map[string][]byte{
		"behind it": append(bytes.Clone(o.file), page...), "before it": append(bytes.Clone(page), o.file...),
	} {
		if got := written(t, read(t, file))[20]; !got.Erased || got.ID != victim.ID {
			t.Errorf("%s: %+v, erased %t", name, got.Header, got.Erased)
		}
	}
	if got := written(t, read(t, o.file, 21))[20]; !got.Erased || got.ID != victim.ID {
		t.Errorf("noted: %+v, erased %t", got.Header, got.Erased)
	}
	file := bytes.Clone(o.file)
	file[at+len(o.stored[20])-1] ^= 1
	s := read(t, file)
	if got := written(t, s)[20]; !got.Erased || s.Unread.Count != 1 || s.Unread.List[0] != (events.Span{From: 21, To: 21}) {
		t.Errorf("a bad payload: erased %t, %+v", got.Erased, s.Unread)
	}
}

// TestCopies: of a record that stands twice in a file the whole payload is taken, whichever copy has it, an erased copy erases both,
// and a mark of erasure before a payload that is there is damage.
func TestCopies(t *testing.T) {
	t.Parallel()
	o := newOriginal(t, seededRandom(3), 60, true)
	was, stored := o.records[20], o.stored[20]
	erased, err := was.Erase().AppendBinary(bytes.Clone(stored[:8]))
	if err != nil {
		t.Fatal(err)
	}
	const mark, isErased = 8 + 1, 1 << 1
	chain, last := len(erased)-1, len(stored)-1
	for name, c := range map[string]struct {
		live, other []byte
		erased      bool
	}{
		"chain and payload damaged, another whole":       {live: flipped(stored, chain, last), other: stored},
		"payload damaged, another with a damaged chain":  {live: flipped(stored, last), other: flipped(stored, chain)},
		"whole, another is marked":                       {live: stored, other: marked(stored, mark, isErased)},
		"marked":                                         {live: marked(stored, mark, isErased)},
		"whole, another is erased and its chain damaged": {live: stored, other: flipped(erased, chain), erased: true},
	} {
		file := bytes.Clone(o.file)
		copy(file[bytes.Index(file, stored):], c.live)
		page := make([]byte, pageSize)
		copy(page[100:], c.other)
		s := read(t, append(file, page...))
		got := written(t, s)[20]
		if got.Header != was.Header || got.Erased != c.erased || got.Chain != was.Chain || !s.Whole() {
			t.Errorf("%s: erased %t, the same header %t, the same chain %t, unread %d, moved %d", name, got.Erased, got.Header == was.Header, got.Chain == was.Chain, s.Unread.Count, s.Moved)
		}
	}
}

func flipped(b []byte, at ...int) []byte {
	b = bytes.Clone(b)
	for _, i := range at {
		b[i] ^= 1
	}
	return b
}

func marked(b []byte, at int, bits byte) []byte {
	b = bytes.Clone(b)
	b[at] |= bits
	return b
}

// TestWithheld: what a log has without its payload, since its owner keeps that, stays so.
func TestWithheld(t *testing.T) {
	t.Parallel()
	o := newOriginal(t, seededRandom(4), 5, true)
	path := filepath.Join(t.TempDir(), "log.db")
	log, err := eventlog.Open(path, eventlog.Config{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range o.records {
		if i%2 == 0 {
			o.records[i] = o.records[i].Withhold()
		}
	}
	if err := log.Restore(t.Context(), o.records...); err != nil {
		t.Fatal(err)
	}
	o = originalOf(t, log, path, false)
	s := read(t, o.file)
	if !s.Whole() {
		t.Errorf("lost %d, unread %d, moved %d", s.Lost.Count, s.Unread.Count, s.Moved)
	}
	for i, r := range written(t, s) {
		if was := o.records[i]; r.Header != was.Header || r.Withheld != was.Withheld || r.Erased != was.Erased {
			t.Errorf("position %d: withheld %t, erased %t; was %t, %t", r.Position, r.Withheld, r.Erased, was.Withheld, was.Erased)
		}
	}
}

// TestMuchErased: what was erased costs no payload that is there, however much it was.
func TestMuchErased(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	log, err := eventlog.Open(path, eventlog.Config{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	codec := events.NewCodec()
	draft := logtest.Draft(strings.Repeat("the same words again and again\n", 260_000))
	sealed, err := codec.Seal(draft, events.Salt{})
	if err != nil {
		t.Fatal(err)
	}
	var previous events.Record
	var erased []events.Record
	for at := events.Position(1); at <= 170; at++ {
		previous = codec.Place(sealed, at, events.Daemon, events.Version(at), previous.Position, previous.Chain, draft.OccurredAt).Erase()
		erased = append(erased, previous)
	}
	if err := log.Restore(t.Context(), erased...); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 200_000)
	fill(seededRandom(5), noise)
	for range 5 {
		words := logtest.Draft(base64.StdEncoding.EncodeToString(noise))
		if _, err := eventlog.AppendEnd(t.Context(), log, logtest.Session("b"), words); err != nil {
			t.Fatal(err)
		}
	}
	o := originalOf(t, log, path, false)
	clear(o.file[:2*pageSize])
	if s := read(t, o.file); !s.Whole() || s.Erased != uint64(len(erased)) {
		t.Errorf("whole %t, %d erased, unread %+v", s.Whole(), s.Erased, s.Unread)
	}
}

// TestErasedInOldPages: where an older page with the payload is in the file, copied over newer ones, the erased record or the one that
// names it keeps the payload away, and so does a note. Where all three are lost it is back, and nothing in the file says otherwise.
func TestErasedInOldPages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	log, err := eventlog.Open(path, eventlog.Config{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(t.Context(), logtest.Session("a"), 0, logtest.Draft("one"), logtest.Draft("two")); err != nil {
		t.Fatal(err)
	}
	two, err := log.Get(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := two.AppendBinary(binary.BigEndian.AppendUint64(nil, 2))
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older := before[bytes.Index(before, payload)/pageSize*pageSize:][:pageSize]
	forget := logtest.Draft("")
	forget.Event = events.MemoryForgotten{Positions: []events.Position{2}, Cause: "person"}
	if _, err := log.Append(t.Context(), logtest.Session("a"), 2, forget); err != nil {
		t.Fatal(err)
	}
	if err := log.Erase(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	o := originalOf(t, log, path, false)
	erased, named := o.stored[1], o.stored[2]
	for name, c := range map[string]struct {
		left []byte // behind the end, in no page that the tree leads to
		note []events.Position
		back bool
	}{
		"erased":     {left: erased},
		"named":      {left: named},
		"noted":      {note: []events.Position{2}},
		"none":       {back: true},
		"named, cut": {left: named[:len(named)-1], back: true},
	} {
		file := bytes.Clone(o.file)
		for page := range slices.Chunk(file, pageSize) {
			if bytes.Contains(page, erased) || bytes.Contains(page, named) {
				copy(page, older)
			}
		}
		last := make([]byte, pageSize)
		copy(last[100:], c.left)
		file = append(file, last...)
		got := written(t, read(t, file, c.note...))
		if got[1].Erased == c.back || got[1].ID != two.ID {
			t.Errorf("%s: erased %t", name, got[1].Erased)
		}
		if c.note == nil {
			o.check(t, name, file, got)
		}
	}
}

// TestPlaceholder: what is lost stands in the stream that the next record of it names; versions and chains go on without a gap, the old
// ones are kept, also in copies, and the last record says where the log is from.
func TestPlaceholder(t *testing.T) {
	t.Parallel()
	o := newOriginal(t, seededRandom(4), 80, true)
	n := 0
	for i := range o.records { // one whose next is there, too
		if r := o.records[i]; r.Version == 2 && i+1 < len(o.records) && o.records[i+1].Previous == r.Position {
			n = i
			break
		}
	}
	file := bytes.Clone(o.file)
	clear(file[bytes.Index(file, o.stored[n]):][:120])
	s := read(t, file)
	path := filepath.Join(t.TempDir(), "out.db")
	if err := s.Write(t.Context(), path, "log.db.damaged-1", nil); err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(path, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	lost, err := log.Get(t.Context(), events.Position(n+1))
	if err != nil || lost.Kind != events.KindRecordLost || lost.Stream != o.records[n].Stream || lost.Version != o.records[n].Version {
		t.Fatalf("got %+v, %v, want a placeholder of %s", lost.Header, err, o.records[n].Stream)
	}
	if e, err := lost.Event(); err != nil || e.(events.RecordLost).Version != 2 {
		t.Errorf("got %+v, %v", e, err)
	}
	for r, err := range eventlog.Events[events.LogSalvaged](t.Context(), log, events.Daemon, 1) {
		if err != nil || r.Event.Source != "log.db.damaged-1" || r.Event.Lost != 1 || r.Event.LostAt[0].From != lost.Position || r.Event.Relaid == 0 {
			t.Errorf("got %+v, %v", r.Event, err)
		}
	}
	if err := log.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := log.Befores(t.Context(), 1, s.Last)
	if err != nil || len(before) != int(s.Moved) {
		t.Fatalf("%d noted, %d moved, %v", len(before), s.Moved, err)
	}
	for _, b := range before {
		if was := o.records[b.Position-1]; b.Chain != was.Chain || b.Version != was.Version || b.Previous != was.Previous {
			t.Errorf("position %d: noted %+v", b.Position, b)
		}
	}
}

// TestAgain: a salvaged log is a log: its own salvage is the same, and a second damage leaves the first one's gaps.
func TestAgain(t *testing.T) {
	t.Parallel()
	o := newOriginal(t, seededRandom(5), 80, true)
	file := bytes.Clone(o.file)
	clear(file[bytes.Index(file, o.stored[30]):][:120])
	path := filepath.Join(t.TempDir(), "out.db")
	if err := read(t, file).Write(t.Context(), path, "log.db", nil); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, again)
	if !s.Whole() || int(s.Last) != len(o.records)+1 {
		t.Errorf("whole %t, last %d", s.Whole(), s.Last)
	}
}

// TestTextIsNoRecord: what an agent said may look like a record, and is none, also where the payload that holds it is damaged.
func TestTextIsNoRecord(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	name := events.StreamID("provider/" + strings.Repeat("x", 110)) // so that the length of the header is text
	sealed, err := codec.Seal(events.Draft{ID: events.ID{1}, OccurredAt: time.Unix(0, 0), Event: events.PromptSubmitted{Text: "forged"}}, events.Salt{})
	if err != nil {
		t.Fatal(err)
	}
	r := codec.Place(sealed, 40, name, 1, 0, events.Hash{}, time.Unix(0, 0))
	r.PayloadHash, r.Chain = events.Hash{}, events.Hash{} // a forger grinds for hashes that are text
	text, err := r.AppendBinary(binary.BigEndian.AppendUint64(nil, 40))
	if err != nil || !utf8.Valid(text[:300]) {
		t.Fatal("choose another name", err)
	}
	log := filepath.Join(t.TempDir(), "log.db")
	l, err := eventlog.Open(log, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), logtest.Session("a"), 0, logtest.Draft("before"), logtest.Draft(string(text))); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for at := bytes.Index(file, []byte("forged")); at >= 0; at = bytes.Index(file, []byte("forged")) {
		file[at] = 'g'
	}
	if s := read(t, file); s.Last != 2 || s.Records != 2 || s.Unread.Count != 1 {
		t.Errorf("%d records up to %d, %d without payload", s.Records, s.Last, s.Unread.Count)
	}
}

// TestNewerFormat: a log of a newer program is refused by number, as long as that can be read.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	o := newOriginal(t, seededRandom(9), 20, true)
	key := []byte("\x00format")
	at := bytes.LastIndex(o.file, key) + len(key)
	o.file[at+3] = 99
	_, err := salvage.Read(t.Context(), bytes.NewReader(o.file), int64(len(o.file)), salvage.Config{Name: "log.db"})
	var newer *eventlog.NewerFormatError
	if !errors.As(err, &newer) || newer.Found != 99 || newer.Path != "log.db" {
		t.Errorf("got %v", err)
	}
}

// TestNothing: what is no log gives nothing, and no error.
func TestNothing(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{"empty": nil, "short": []byte("x"), "zeros": make([]byte, 3*pageSize), "ones": bytes.Repeat([]byte{1}, 3*pageSize)} {
		if s := read(t, file); s.Last != 0 || s.Records != 0 {
			t.Errorf("%s: %d records up to %d", name, s.Records, s.Last)
		}
	}
}

// FuzzRead: whatever a file holds, reading it ends and gives no more than it has.
func FuzzRead(f *testing.F) {
	o := newOriginal(f, seededRandom(6), 4, true)
	f.Add(o.file)
	f.Add(o.file[:len(o.file)/2])
	f.Add(append(bytes.Clone(o.file[2*pageSize:]), o.file...))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := salvage.Read(t.Context(), bytes.NewReader(b), int64(len(b)), salvage.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Records > uint64(len(b)/180) || s.Lost.Count > 1<<19+64*uint64(len(b)/180) {
			t.Errorf("%d records and %d lost in %d bytes", s.Records, s.Lost.Count, len(b))
		}
	})
}

func BenchmarkSalvage(b *testing.B) {
	o := newOriginal(b, seededRandom(7), 3000, true)
	b.ReportAllocs()
	records := uint64(0)
	for b.Loop() {
		s := read(b, o.file)
		records += s.Records
		if err := s.Write(b.Context(), filepath.Join(b.TempDir(), "out.db"), "log.db", nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}
