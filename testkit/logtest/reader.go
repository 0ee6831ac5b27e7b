package logtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Reader is a reader over a log of its own and over others, which it is fed.
type Reader interface {
	eventlog.Reader

	// Feed hands over the next records of another log. They can be read when it returns.
	Feed(ctx context.Context, log events.LogID, records ...events.Record) error

	// Close ends the reader, not the log.
	Close() error
}

// RunReader tests a reader over several logs, and closes it. open is called with a log that is read from the first
// record on, and grows.
func RunReader(t *testing.T, open func(tb testing.TB, own *eventlog.Bolt) Reader) {
	t.Run("one log", func(t *testing.T) {
		t.Parallel()
		testOneLog(t, open)
	})
	t.Run("two logs", func(t *testing.T) {
		t.Parallel()
		testTwoLogs(t, open)
	})
	t.Run("follow", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { testFollowTwo(t, open) })
	})
	t.Run("follow, busy", func(t *testing.T) {
		t.Parallel()
		testFollowTwoBusy(t, open)
	})
}

// testOneLog: as long as nothing is fed, what is read is what the own log says.
func testOneLog(t *testing.T, open func(testing.TB, *eventlog.Bolt) Reader) {
	log := Open(t, eventlog.Config{})
	r := open(t, log)
	for i := range events.Version(5) {
		appendTo(t, log, Session("a"), i*3, numbered(fmt.Sprint(i), 3)...)
		appendTo(t, log, events.Daemon, i, "d")
	}
	equal(t, "All", collect(t, r.All(t.Context(), 3)), collect(t, log.All(t.Context(), 3)), sameRecords)
	equal(t, "Stream", collect(t, r.Stream(t.Context(), Session("a"), 2)), collect(t, log.Stream(t.Context(), Session("a"), 2)), sameRecords)
	for at := range events.Position(22) {
		got, err := r.Get(t.Context(), at)
		want, wantErr := log.Get(t.Context(), at)
		equal(t, fmt.Sprint("Get ", at), got, want, sameRecords)
		equal(t, fmt.Sprint("error of Get ", at), fmt.Sprint(err), fmt.Sprint(wantErr))
	}
	for _, stream := range []events.StreamID{Session("a"), events.Daemon, "unknown", ""} {
		v, at, err := r.Head(t.Context(), stream)
		wantV, wantAt, wantErr := log.Head(t.Context(), stream)
		equal(t, "Head of "+string(stream), fmt.Sprint(v, at, err), fmt.Sprint(wantV, wantAt, wantErr))
	}
	if last, err := r.Last(t.Context()); last != 20 || err != nil {
		t.Errorf("Last: got %d, %v, want 20", last, err)
	}
}

// fedLog is one of the logs of a readerModel.
type fedLog struct {
	log *eventlog.Bolt
	id  events.LogID // zero: the own one
	fed events.Position
	all []events.Record
}

// readerModel is what a reader over two logs should say.
type readerModel struct {
	t    *testing.T
	r    Reader
	logs []*fedLog
	seen []events.Place // in the order of the reader
}

// testTwoLogs appends to two logs and feeds one of them, in random order, and compares everything that can be read.
func testTwoLogs(t *testing.T, open func(testing.TB, *eventlog.Bolt) Reader) {
	names := []events.StreamID{Session("a"), Session("b"), events.Daemon, events.ProviderStream("p")}
	rapid.Check(t, func(rt *rapid.T) {
		m := &readerModel{t: t, logs: []*fedLog{{log: Open(rt, eventlog.Config{})}, {log: Open(rt, eventlog.Config{})}}}
		m.append(rt, m.logs[0], names[0])
		m.append(rt, m.logs[1], names[0])
		m.logs[1].id, m.logs[1].fed = events.LogIDOf(m.logs[1].all[0]), 0
		m.r = open(t, m.logs[0].log)
		defer func() { _ = m.r.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				m.append(rt, rapid.SampledFrom(m.logs).Draw(rt, "log"), rapid.SampledFrom(names).Draw(rt, "stream"))
			},
			"feed":    m.feed,
			"compare": m.compare,
		})
		m.compare(rt)
	})
}

// append adds one or two records to a log: a turn over earlier records of it.
func (m *readerModel) append(rt *rapid.T, l *fedLog, stream events.StreamID) {
	var drafts []events.Draft
	for range rapid.IntRange(1, 2).Draw(rt, "records") {
		e := events.TurnStarted{Attempt: 1}
		for range rapid.IntRange(0, 3).Draw(rt, "settles") {
			e.Settles = append(e.Settles, events.Position(rapid.IntRange(0, len(l.all)).Draw(rt, "at")))
		}
		drafts = append(drafts, events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: Draft("").OccurredAt, Event: e})
	}
	records, err := eventlog.AppendEnd(m.t.Context(), l.log, stream, drafts...)
	if err != nil {
		rt.Fatal(err)
	}
	l.all = append(l.all, records...)
	if l.id.IsZero() {
		l.fed = events.Position(len(l.all))
	}
}

func (m *readerModel) feed(rt *rapid.T) {
	l := m.logs[1]
	next := l.all[l.fed:]
	next = next[:rapid.IntRange(0, len(next)).Draw(rt, "feed")]
	if err := m.r.Feed(m.t.Context(), l.id, next...); err != nil {
		rt.Fatalf("Feed: %v", err)
	}
	l.fed += events.Position(len(next))
}

// compare checks all that the reader says against the logs.
func (m *readerModel) compare(rt *rapid.T) {
	all := collect(rt, m.r.All(m.t.Context(), 1))
	places := make([]events.Place, len(all))
	at := map[events.Place]events.Position{}
	streams := map[events.StreamID][]events.Record{}
	for i, r := range all {
		places[i] = r.Place()
		at[r.Place()] = events.Position(i + 1)
		streams[r.Stream] = append(streams[r.Stream], r)
		if i > 0 && r.RecordedAt.Before(all[i-1].RecordedAt) {
			rt.Fatalf("%d was recorded before %d", i+1, i)
		}
	}
	if len(places) < len(m.seen) || !slices.Equal(places[:len(m.seen)], m.seen) {
		rt.Fatalf("the order changed: it was %v, it is %v", m.seen, places)
	}
	m.seen = places
	for _, l := range m.logs {
		m.compareLog(rt, l, all, at)
	}
	for _, stream := range slices.Sorted(maps.Keys(streams)) {
		m.compareStream(rt, stream, streams[stream])
	}
	m.comparePlaces(rt, all)
}

// compareLog checks that all holds the records of a log in their order, as they are there, and with each position
// moved to where all has it.
func (m *readerModel) compareLog(rt *rapid.T, l *fedLog, all []events.Record, at map[events.Place]events.Position) {
	n := events.Position(0)
	for i, r := range all {
		if r.Place().Log != l.id {
			continue
		}
		if n++; r.Place().Position != n {
			rt.Fatalf("record %d of log %q comes after %d others of it", r.Place().Position, l.id, n-1)
		}
		moved := func(p events.Position) events.Position { return at[events.Place{Log: l.id, Position: p}] }
		was := l.all[n-1]
		want := was.Header
		want.Position, want.Previous, want.RecordedAt = events.Position(i+1), moved(was.Previous), r.RecordedAt
		if !l.id.IsZero() {
			want.Stream = was.Stream.In(l.id)
		}
		if r.Header != want || r.Chain != was.Chain { // cmp.Diff would take most of the test's time
			equal(rt, "header", r.Header, want)
			equal(rt, "chain", r.Chain, was.Chain)
		}
		e, err := was.Event()
		if err != nil {
			rt.Fatal(err)
		}
		settles := e.(events.TurnStarted).Settles
		for i, p := range settles {
			settles[i] = moved(p)
		}
		got, err := r.Event()
		if err != nil {
			rt.Fatal(err)
		}
		if moved := got.(events.TurnStarted).Settles; !slices.Equal(moved, settles) {
			rt.Fatalf("%d settles %v, want %v", i+1, moved, settles)
		}
	}
	if n != l.fed {
		rt.Fatalf("%d records of log %q, want %d", n, l.id, l.fed)
	}
}

// compareStream checks Stream and Head.
func (m *readerModel) compareStream(rt *rapid.T, stream events.StreamID, want []events.Record) {
	from := events.Version(rapid.IntRange(0, len(want)+1).Draw(rt, "from"))
	last := want[len(want)-1]
	want = slices.DeleteFunc(slices.Clone(want), func(r events.Record) bool { return r.Version < from })
	got := collect(rt, m.r.Stream(m.t.Context(), stream, from))
	sameInOrder(rt, fmt.Sprintf("%s from %d", stream, from), got, want)
	v, at, err := m.r.Head(m.t.Context(), stream)
	if v != last.Version || at != last.Position || err != nil {
		rt.Fatalf("Head of %s: got %d, %d, %v, want %d, %d", stream, v, at, err, last.Version, last.Position)
	}
}

// comparePlaces checks Last, Get and GetAll.
func (m *readerModel) comparePlaces(rt *rapid.T, all []events.Record) {
	end := events.Position(len(all))
	if last, err := m.r.Last(m.t.Context()); last != end || err != nil {
		rt.Fatalf("Last: got %d, %v, want %d", last, err, end)
	}
	at := rapid.SliceOfN(rapid.Uint64Range(0, uint64(end+1)), 0, 8).Draw(rt, "get")
	positions := make([]events.Position, len(at))
	for i, p := range at {
		positions[i] = events.Position(p)
	}
	i := 0
	for got, err := range eventlog.GetAll(m.t.Context(), m.r, positions...) {
		p := positions[i]
		one, oneErr := m.r.Get(m.t.Context(), p)
		sameInOrder(rt, "GetAll", []events.Record{got}, []events.Record{one})
		if p == 0 || p > end {
			if !errors.Is(err, eventlog.ErrNotFound) || !errors.Is(oneErr, eventlog.ErrNotFound) {
				rt.Fatalf("Get %d: got %v and %v, want ErrNotFound", p, err, oneErr)
			}
		} else {
			sameInOrder(rt, "Get", []events.Record{got}, all[p-1:p])
		}
		i++
	}
	if i != len(positions) {
		rt.Fatalf("GetAll of %d positions gave %d", len(positions), i)
	}
	from := events.Position(rapid.Uint64Range(0, uint64(end+2)).Draw(rt, "all from"))
	sameInOrder(rt, fmt.Sprint("All from ", from), collect(rt, m.r.All(m.t.Context(), from)), all[min(end, max(from, 1)-1):])
}

// sameInOrder compares records, and whose they are.
func sameInOrder(rt *rapid.T, what string, got, want []events.Record) {
	if !slices.EqualFunc(got, want, func(a, b events.Record) bool {
		return a.Header == b.Header && a.Chain == b.Chain && a.Erased == b.Erased && a.Place() == b.Place()
	}) {
		equal(rt, what, got, want, sameRecords)
		rt.Fatalf("%s: records differ", what)
	}
}

// testFollowTwo checks that a follower who has caught up sleeps, and wakes for what either log brings.
func testFollowTwo(t *testing.T, open func(testing.TB, *eventlog.Bolt) Reader) {
	log, other := Open(t, eventlog.Config{}), Open(t, eventlog.Config{})
	appendTo(t, log, Session("a"), 0, "own 1")
	fed := appendTo(t, other, Session("b"), 0, "fed 1", "fed 2")
	r := open(t, log)
	var mu sync.Mutex // guards got
	var got []string
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for rec, err := range r.Follow(ctx, 1) {
			if err != nil {
				t.Errorf("Follow: %v", err)
				return
			}
			mu.Lock()
			got = append(got, text(t, rec))
			mu.Unlock()
		}
	}()
	want := func(texts ...string) {
		t.Helper()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		equal(t, "followed", got, texts)
	}
	want("own 1")
	if err := r.Feed(t.Context(), events.LogIDOf(fed[0]), fed[0]); err != nil {
		t.Fatal(err)
	}
	want("own 1", "fed 1")
	appendTo(t, log, Session("a"), 1, "own 2")
	want("own 1", "fed 1", "own 2")
	if err := r.Feed(t.Context(), events.LogIDOf(fed[0]), fed[1]); err != nil {
		t.Fatal(err)
	}
	want("own 1", "fed 1", "own 2", "fed 2")
	cancel()
	<-ended
}

// testFollowTwoBusy has one goroutine append, one feed, and followers see each position once, and the same in it.
func testFollowTwoBusy(t *testing.T, open func(testing.TB, *eventlog.Bolt) Reader) {
	const records = 300
	log, other := Open(t, eventlog.Config{}), Open(t, eventlog.Config{})
	appendTo(t, log, Session("a"), 0, "first")
	fed := appendTo(t, other, Session("b"), 0, numbered("fed", records)...)
	r := open(t, log)
	var writers, followers sync.WaitGroup
	seen := make([][]events.Place, 3)
	for i := range seen {
		followers.Go(func() {
			for rec, err := range r.Follow(t.Context(), 1) {
				if err != nil || int(rec.Position) != len(seen[i])+1 {
					t.Errorf("after %d: got %d, %v", len(seen[i]), rec.Position, err)
					return
				}
				if seen[i] = append(seen[i], rec.Place()); len(seen[i]) == 2*records+1 {
					return
				}
			}
		})
	}
	writers.Go(func() {
		for i := range events.Version(records) {
			appendTo(t, log, Session("a"), i+1, "x")
		}
	})
	writers.Go(func() {
		for _, one := range fed {
			if err := r.Feed(t.Context(), events.LogIDOf(fed[0]), one); err != nil {
				t.Errorf("Feed: %v", err)
				return
			}
		}
	})
	writers.Wait()
	if t.Failed() {
		_ = log.Close() // so that the followers end
	}
	followers.Wait()
	var order []events.Place
	for _, rec := range collect(t, r.All(t.Context(), 1)) {
		order = append(order, rec.Place())
	}
	for i := range seen {
		equal(t, fmt.Sprint("what follower ", i, " saw"), seen[i], order)
	}
}
