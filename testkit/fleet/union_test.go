package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/eventlog/share/store/folder"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/storetest"
	"github.com/cmemd/cmemd/testkit/wait"
)

// home is a machine whose log and copies are files.
type home struct {
	testing.TB
	dir   string
	codec *events.Codec
	log   *eventlog.Bolt
	union *union.Union
	space *space.Space
	share *share.Share
	ended chan error
	stop  func()
}

// newHome enters the space of another home by an invitation; with none it makes one.
func newHome(tb testing.TB, s store.Store, name string, by *home) *home {
	tb.Helper()
	h := &home{TB: tb, dir: tb.TempDir(), codec: events.NewCodec()}
	h.log = logtest.Open(tb, eventlog.Config{Codec: h.codec})
	h.work(1, 0)
	ctx, err := context.Background(), error(nil)
	if by == nil {
		h.space, _, err = space.Create(ctx, h.dir, s, name, time.Now())
	} else {
		code, invited := by.space.Invite(ctx, name, "", time.Now())
		if invited != nil {
			tb.Fatal(invited)
		}
		h.space, err = space.Enter(ctx, h.dir, s, code, name, "", time.Now())
	}
	if err != nil {
		tb.Fatal(err)
	}
	h.open(s)
	return h
}

// start runs the home's share; stop ends it.
func (h *home) start() {
	ctx, cancel := context.WithCancel(context.Background())
	h.ended = make(chan error, 1)
	go func(ended chan<- error, s *share.Share) { ended <- s.Run(ctx) }(h.ended, h.share)
	h.stop = func() {
		cancel()
		if err := <-h.ended; err != nil {
			h.Error(err)
		}
		if err := h.union.Close(); err != nil {
			h.Error(err)
		}
	}
}

// forget erases what the own log holds.
func (h *home) forget(ctx context.Context, at []events.Place) error {
	own, err := eventlog.ID(ctx, h.log)
	if err != nil {
		return err
	}
	var erase []events.Position
	for _, p := range at {
		if p.Log == own {
			erase = append(erase, p.Position)
		}
	}
	return h.log.Erase(ctx, erase...)
}

// work appends n prompts of about a size.
func (h *home) work(n, size int) {
	h.Helper()
	ctx := context.Background()
	stream := events.SessionIDOf("fleet", h.dir).Stream()
	version, _, err := h.log.Head(ctx, stream)
	if err != nil {
		h.Fatal(err)
	}
	drafts := make([]events.Draft, n)
	for i := range drafts {
		text := fmt.Sprintf("text%dtext %s", i, strings.Repeat(fmt.Sprint(i, " of the work "), size/20))
		drafts[i] = events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: events.PromptSubmitted{Number: i, Text: text}}
	}
	if _, err := h.log.Append(ctx, stream, version, drafts...); err != nil {
		h.Fatal(err)
	}
}

// last is the position of the union's last record.
func (h *home) last() events.Position {
	h.Helper()
	last, err := h.union.Last(context.Background())
	if err != nil {
		h.Fatal(err)
	}
	return last
}

// TestUnion: with logs and copies on disk each home reads what all have, whole, and what was forgotten nowhere.
func TestUnion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := storetest.NewMemory()
		a := newHome(t, engine.Connect(nil), "a", nil)
		b := newHome(t, engine.Connect(nil), "b", a)
		c := newHome(t, engine.Connect(nil), "c", b)
		homes := []*home{a, b, c}
		for i, h := range homes {
			h.start()
			defer h.stop()
			h.work(600*(i+1), 200)
		}
		time.Sleep(time.Minute)
		const all = 600*6 + 3
		for _, h := range homes {
			if last := h.last(); last != all {
				t.Errorf("a home has %d records of %d: %+v", last, all, must(h.share.Status(t.Context())))
			}
			for _, copied := range h.union.Copies() {
				if err := h.union.Verify(t.Context(), copied.Log, nil); err != nil {
					t.Error(err)
				}
			}
		}
		place, ok := c.union.Where(7)
		if !ok {
			t.Fatal("nothing is at 7")
		}
		if _, err := c.share.Forget(t.Context(), place); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if place.Log.IsZero() {
			place.Log = must(eventlog.ID(t.Context(), c.log))
		}
		for _, h := range homes {
			if st := must(h.share.Status(t.Context())); len(st.Forgets) > 0 || len(st.Problems) > 0 {
				t.Errorf("after 5 s: %+v", st)
			}
			own := place
			if place.Log == must(eventlog.ID(t.Context(), h.log)) {
				own.Log = events.LogID{}
			}
			at, ok := h.union.At(own)
			if r := must(h.union.Get(t.Context(), at)); !ok || !r.Erased {
				t.Errorf("the words are there still, at %d", at)
			}
		}
	})
}

// TestEmptied: homes that had read each other for long send all of it again into a store that was emptied, and one that enters then shows
// it as soon as it has it: nothing waits for what waits for it.
func TestEmptied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := storetest.NewMemory()
		a := newHome(t, engine.Connect(nil), "a", nil)
		b := newHome(t, engine.Connect(nil), "b", a)
		for _, h := range []*home{a, b} {
			h.start()
			defer h.stop()
		}
		for range 10 {
			a.work(5, 100)
			time.Sleep(5 * time.Second)
			b.work(5, 100)
			time.Sleep(5 * time.Second)
		}
		for key := range engine.Now() {
			engine.Forget(key)
		}
		a.work(1, 100)
		b.work(1, 100)
		time.Sleep(2 * time.Minute)
		c := newHome(t, engine.Connect(nil), "c", a)
		c.start()
		defer c.stop()
		time.Sleep(10 * time.Second)
		for _, h := range []*home{a, b, c} {
			if last := h.last(); last != 2*51+3 {
				t.Errorf("a home shows %d records of %d", last, 2*51+3)
			}
		}
	})
}

// TestFolder: two homes share by a plain folder, in real time; a person waits 15 s at most.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := newHome(t, openFolder(t, dir), "a", nil)
	b := newHome(t, openFolder(t, dir), "b", a)
	a.start()
	defer a.stop()
	b.start()
	defer b.stop()
	a.work(100, 200)
	began := time.Now()
	wait.Until(t, "the other home has it", func() bool { return b.last() == 102 })
	t.Logf("the other home had 100 records after %v", time.Since(began))
	place, _ := b.union.Where(50)
	if _, err := b.share.Forget(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	wait.Until(t, "it is forgotten everywhere", func() bool {
		st := must(b.share.Status(t.Context()))
		return len(st.Forgets) == 0 && len(must(a.share.Status(t.Context())).Forgets) == 0
	})
	t.Logf("both homes and the folder had forgotten after %v", time.Since(began))
}

func openFolder(t *testing.T, dir string) store.Store {
	t.Helper()
	s, err := folder.Open(dir, folder.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// BenchmarkBacklog sends a log that was not sent yet.
func BenchmarkBacklog(b *testing.B) {
	const n = 20_000
	h := newHome(b, storetest.NewMemory().Connect(nil), "a", nil)
	h.work(n, 600)
	for b.Loop() {
		b.StopTimer()
		again, err := share.New(share.Config{
			Dir: b.TempDir(), Space: must(space.Open(h.dir, storetest.NewMemory().Connect(nil))), Own: h.log, Copies: h.union, Codec: h.codec,
			Forget: h.forget,
		})
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		b.StartTimer()
		go func() { ended <- again.Run(ctx) }()
		if err := again.Flush(ctx); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		cancel()
		<-ended
		b.StartTimer()
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkRestore gives a new home what another one has.
func BenchmarkRestore(b *testing.B) {
	const n = 20_000
	engine := storetest.NewMemory()
	a := newHome(b, engine.Connect(nil), "a", nil)
	a.start()
	defer a.stop()
	a.work(n, 600)
	if err := a.share.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		h := newHome(b, engine.Connect(nil), "b", a)
		b.StartTimer()
		h.start()
		for h.last() < n+1 {
			time.Sleep(10 * time.Millisecond)
		}
		b.StopTimer()
		h.stop()
		b.StartTimer()
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// TestSalvagedHome: a home whose log was salvaged, and that does not know any more what it sent, takes no words from the store that damage
// took from its log. What was forgotten goes.
func TestSalvagedHome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const unread, erased, lateUnread, damagedUnread = 5, 7, 205, 305
		engine := storetest.NewMemory()
		a := newHome(t, engine.Connect(nil), "a", nil)
		a.work(100, 50)
		put := func(stream events.StreamID, all ...events.Event) {
			t.Helper()
			for _, e := range all {
				d := events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: e}
				if _, err := eventlog.AppendEnd(t.Context(), a.log, stream, d); err != nil {
					t.Fatal(err)
				}
			}
		}
		other := events.SessionIDOf("fleet", "another").Stream()
		for i := range 200 {
			put(other, events.PromptSubmitted{Number: i, Text: fmt.Sprint("another ", i)})
		}
		for i := range 10 {
			put(events.SessionIDOf("fleet", "damaged").Stream(), events.PromptSubmitted{Number: i, Text: fmt.Sprint("damaged ", i)})
		}
		a.start()
		time.Sleep(time.Minute)
		a.stop()
		if err := a.log.Erase(t.Context(), unread, erased, lateUnread, damagedUnread); err != nil {
			t.Fatal(err)
		}
		put(events.Daemon, events.MemoryForgotten{Positions: []events.Position{damagedUnread - 1}, Cause: "person"})
		put(events.Daemon, events.LogSalvaged{Unread: 3, UnreadAt: []events.Span{
			{From: unread, To: unread}, {From: lateUnread, To: lateUnread}, {From: damagedUnread, To: damagedUnread},
		}})
		put(other, events.MemoryForgotten{Positions: []events.Position{lateUnread - 1}, Cause: "person"})
		log, err := eventlog.ID(t.Context(), a.log)
		if err != nil {
			t.Fatal(err)
		}
		head := store.Key(a.space.ID().String() + "/" + space.WatchedPart + "/head/" + log.String())
		if err := os.Remove(filepath.Join(a.dir, "share", "feeds")); err != nil || !engine.Forget(head) {
			t.Fatal("what is known of shipping is still there:", err)
		}
		a.open(engine.Connect(nil))
		a.start()
		defer a.stop()
		time.Sleep(time.Minute)
		b := newHome(t, engine.Connect(nil), "b", a)
		b.start()
		defer b.stop()
		time.Sleep(time.Minute)
		words := map[events.Position]bool{
			unread: true, erased: false, lateUnread: false, lateUnread - 2: true, damagedUnread: false, damagedUnread - 2: true,
		}
		for p, want := range words {
			here, ok := b.union.At(events.Place{Log: log, Position: p})
			if r, err := b.union.Get(t.Context(), here); !ok || err != nil || r.Erased == want {
				t.Errorf("record %d is there: %t, erased %t, %v; want words: %t", p, ok, r.Erased, err, want)
			}
		}
	})
}
