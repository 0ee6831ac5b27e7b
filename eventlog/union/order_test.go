package union

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// TestOrder compares an order with a list of all its records, one by one, after each run that is placed.
func TestOrder(t *testing.T) {
	t.Parallel()
	type record struct {
		log uint32
		p   events.Position
	}
	rapid.Check(t, func(rt *rapid.T) {
		o := newOrder(make([]events.LogID, 4))
		var list []record
		var last events.Position
		ends := make([]events.Position, 4)
		grow := func(n int) {
			for range n {
				last++
				list = append(list, record{ownNumber, last})
			}
		}
		known := int64(0)
		for range rapid.IntRange(1, 30).Draw(rt, "runs") {
			grow(rapid.IntRange(0, 3).Draw(rt, "own"))
			log := rapid.Uint32Range(1, 3).Draw(rt, "log")
			n := rapid.Uint32Range(1, 4).Draw(rt, "n")
			known += rapid.Int64Range(-1, 1).Draw(rt, "later") * int64(samePeriod)
			before := *o
			o = o.place(log, n, last, known)
			for range n {
				ends[log]++
				list = append(list, record{log, ends[log]})
			}
			if got := before.end(last); got != events.Position(len(list)-int(n)) {
				rt.Fatalf("the order before has changed: it ends at %d", got)
			}
		}
		grow(rapid.IntRange(0, 3).Draw(rt, "own at the end"))
		if got := o.end(last); got != events.Position(len(list)) {
			rt.Fatalf("end: got %d, want %d", got, len(list))
		}
		floor := int64(math.MinInt64)
		read := make([]events.Position, 4)
		for i, r := range list {
			at := events.Position(i + 1)
			for log := uint32(1); log < 4; log++ {
				if got := o.before(log, at); got != read[log] {
					rt.Fatalf("before %d stands %d of log %d, want %d", at, got, log, read[log])
				}
			}
			read[r.log] = r.p
			s, to := o.find(at)
			if s.log != r.log || s.first+at-s.at != r.p || to < at {
				rt.Fatalf("find %d: got %+v, want %+v", at, s, r)
			}
			if found, got, ok := o.locate(r.log, r.p); !ok || got != at || found != s {
				rt.Fatalf("locate %+v: got %d, %v, %+v, want %d in %+v", r, got, ok, found, at, s)
			}
			if s.known < floor {
				rt.Fatalf("%d became known before what stands before it", at)
			}
			floor = s.known
		}
		for log := uint32(1); log < 4; log++ {
			if got := o.shown(log); got != ends[log] {
				rt.Fatalf("shown of %d: got %d, want %d", log, got, ends[log])
			}
			for _, p := range []events.Position{0, ends[log] + 1, math.MaxInt64, math.MaxUint64} {
				if got := o.at(log, p); got != 0 {
					rt.Fatalf("position %d of log %d has a place: %d", p, log, got)
				}
			}
		}
		logs := []entry{idEntry(kindOwn, ownNumber, journalFormat, events.LogID{9}), idEntry(kindOrder, ownNumber, 0, events.LogID{8})}
		for log := range uint32(3) {
			logs = append(logs, idEntry(kindLog, log+1, 0, events.LogID{byte(log + 1)}))
		}
		said := fold(append(logs, o.runs()...))
		again := said.order
		if said.bad || !slices.Equal(again.stretches, o.stretches) || again.tail != o.tail || len(o.runs()) > len(o.stretches) {
			rt.Fatalf("folded from its own runs it is %+v, %+v, want %+v, %+v", again.stretches, again.tail, o.stretches, o.tail)
		}
		if o.at(ownNumber, math.MaxUint64) != 0 || o.at(9, 1) != 0 {
			rt.Fatal("what is no record has a place")
		}
	})
}

// TestStretches: what comes of one log, one run behind the other, is remembered as one, and what is remembered of it
// grows by time alone.
func TestStretches(t *testing.T) {
	t.Parallel()
	o := newOrder(make([]events.LogID, 2))
	const runs, every = 1000, samePeriod / 10
	for i := range runs {
		o = o.place(1, 3, 7, int64(i)*int64(every))
	}
	if got, want := len(o.stretches), 1+runs/10; got != want {
		t.Errorf("got %d stretches of %d runs, want %d: the own log's, and one a period", got, runs, want)
	}
	if got := o.end(7); got != 7+3*runs {
		t.Errorf("the order ends at %d", got)
	}
}

// FuzzJournal: whatever stands in the file, it is read as entries that stand there, or as damaged; what was cut off is passed over.
func FuzzJournal(f *testing.F) {
	var b []byte
	good := []entry{
		idEntry(kindOwn, ownNumber, journalFormat, events.LogID{1}), idEntry(kindOrder, ownNumber, 0, events.LogID{2}),
		idEntry(kindLog, 1, 0, events.LogID{3}), {kind: kindNeed, a: 4}, {kind: kindWaits, log: 1, n: 2, b: 9},
		{kind: kindRun, log: 1, n: 2, a: 5, b: 10}, {kind: kindErased, log: 1, a: 7},
		{kind: kindClean, log: 1}, {kind: kindTrimmed, log: 1, a: 2}, {kind: kindDamaged, log: 1},
	}
	for i, e := range good {
		b = e.appendTo(b, int64(i))
	}
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Add(append(slices.Clone(b), make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, whole, err := parseJournal(b)
		if err == nil && int(whole) != len(all) || len(all) > len(b)/entrySize {
			t.Fatalf("%d entries of %d bytes, %d whole, %v", len(all), len(b), whole, err)
		}
		if err == nil {
			var again []byte
			for i, e := range all {
				again = e.appendTo(again, int64(i))
			}
			if !slices.Equal(again, b[:len(again)]) {
				t.Fatal("what was read is not what stands there")
			}
		}
		_ = fold(all)
	})
}

// TestJournalDamage flips each bit of a journal, and cuts it at each length: what was read then is the beginning of
// what was written, or damaged.
func TestJournalDamage(t *testing.T) {
	t.Parallel()
	var b []byte
	var want []entry
	for i := range 6 {
		e := entry{kind: kindRun, log: 1, n: uint32(i + 1), a: uint64(i), b: 1 << 60}
		want, b = append(want, e), e.appendTo(b, int64(i))
	}
	for bit := range 8 * len(b) {
		flipped := slices.Clone(b)
		flipped[bit/8] ^= 1 << (bit % 8)
		all, _, err := parseJournal(flipped)
		last := bit/8/entrySize == len(want)-1 // as a write that a crash cut
		if last != (err == nil) || len(all) != len(want)-1 {
			t.Fatalf("bit %d flipped: %d entries, %v", bit, len(all), err)
		}
	}
	for n := range b {
		all, whole, err := parseJournal(b[:n])
		if err != nil || int(whole) != n/entrySize || !slices.Equal(all, want[:n/entrySize]) {
			t.Fatalf("cut to %d bytes: %d entries, %v", n, whole, err)
		}
	}
	moved := append(slices.Clone(b[entrySize:2*entrySize]), b[:entrySize]...)
	if all, _, err := parseJournal(append(moved, b[2*entrySize:]...)); err == nil || len(all) != len(want)-2 {
		t.Errorf("two entries exchanged: %d entries, %v", len(all), err)
	}
}

// TestNewerJournal: a journal of a newer program is refused by its number, and left as it is.
func TestNewerJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "order")
	err := writeJournal(path, func(add func(...entry)) error {
		add(idEntry(kindOwn, ownNumber, journalFormat+1, events.LogID{1}), entry{kind: 99})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = openJournal(path, false)
	if newer, ok := errors.AsType[*eventlog.NewerFormatError](err); !ok || newer.Found != journalFormat+1 || newer.Path != path {
		t.Errorf("got %v, want a NewerFormatError", err)
	}
	if is, err := os.ReadFile(path); err != nil || !slices.Equal(is, was) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// TestJournalBroken: what cannot be written is an error and nothing of it is read later; what can be written then is.
func TestJournalBroken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "order")
	j, want, err := createJournal(path, false, func(add func(...entry)) error {
		addIDs(add, []events.LogID{{1}}, events.LogID{2})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	good, failed := j.sync, errors.New("no disk")
	j.sync = func() error { return failed }
	for range 2 {
		err := j.add(entry{kind: kindClean}, entry{kind: kindClean})
		if !errors.Is(err, ErrCopy) || !errors.Is(err, failed) || errors.Is(err, eventlog.ErrFailed) {
			t.Errorf("got %v, want ErrCopy with its reason", err)
		}
	}
	j.sync = good
	last := entry{kind: kindDamaged, log: 7}
	if err := errors.Join(j.add(last), j.close()); err != nil {
		t.Fatal(err)
	}
	j, got, err := openJournal(path, false)
	if err != nil || !slices.Equal(got, append(want, last)) {
		t.Fatalf("got %v, %v", got, err)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
}

// TestOrderTwins: an order in which logs have records of others is the same once it was written anew.
func TestOrderTwins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o, last := newOrder([]events.LogID{{9}, {1}, {2}}), events.Position(0)
		for range rapid.IntRange(1, 20).Draw(rt, "runs") {
			last += events.Position(rapid.IntRange(0, 3).Draw(rt, "own"))
			log, n := rapid.Uint32Range(1, 2).Draw(rt, "log"), rapid.Uint32Range(1, 4).Draw(rt, "n")
			of := rapid.SampledFrom([]uint32{ownNumber, 3 - log}).Draw(rt, "of")
			to := o.shown(log) + events.Position(n)
			if rapid.Bool().Draw(rt, "twin") && (of != ownNumber || to <= last) && o.at(of, to) > 0 {
				o = o.same(log, n, of)
			} else {
				o = o.place(log, n, last, rapid.Int64Range(0, 3).Draw(rt, "known")*int64(samePeriod))
			}
		}
		said := []entry{idEntry(kindOwn, ownNumber, journalFormat, events.LogID{9}), idEntry(kindOrder, ownNumber, 0, events.LogID{8}),
			idEntry(kindLog, 1, 0, events.LogID{1}), idEntry(kindLog, 2, 0, events.LogID{2})}
		f := fold(append(said, o.runs()...))
		if f.bad {
			rt.Fatal("what an order says of itself is no order")
		}
		for log := range uint32(3) {
			for p := events.Position(1); p < 100; p++ {
				if got, want := f.order.at(log, p), o.at(log, p); got != want {
					rt.Fatalf("record %d of log %d: got %d, want %d", p, log, got, want)
				}
			}
		}
	})
}
