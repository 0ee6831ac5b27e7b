package fleet

import (
	"bytes"
	"context"
	"errors"
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
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// copied is a copy of a home that was stopped.
func (h *home) copied(s store.Store) *home {
	h.Helper()
	c := &home{TB: h.TB, dir: h.TempDir(), codec: h.codec, log: logtest.Open(h.TB, eventlog.Config{Codec: h.codec})}
	for r, err := range h.log.All(context.Background(), 1) {
		if err == nil {
			err = c.log.Restore(context.Background(), r)
		}
		if err != nil {
			h.Fatal(err)
		}
	}
	if err := os.RemoveAll(c.dir); err != nil {
		h.Fatal(err)
	}
	if err := os.CopyFS(c.dir, os.DirFS(h.dir)); err != nil {
		h.Fatal(err)
	}
	for _, name := range []string{"device.key", "space"} {
		if err := os.Chmod(filepath.Join(c.dir, name), 0o600); err != nil {
			h.Fatal(err)
		}
	}
	c.open(s)
	return c
}

// open opens what a home that was stopped, or goes on as another one, has on its disk.
func (h *home) open(s store.Store) {
	h.Helper()
	var err error
	if h.space, err = space.Open(h.dir, s); err != nil {
		h.Fatal(err)
	}
	h.union, err = union.Open(h.log, union.Config{
		Dir: filepath.Join(h.dir, "copies"), Copies: eventlog.Config{NoSync: true, Codec: h.codec},
	})
	if err != nil {
		h.Fatal(err)
	}
	h.share, err = share.New(share.Config{
		Dir: filepath.Join(h.dir, "share"), Space: h.space, Own: h.log, Copies: h.union, Codec: h.codec, Forget: h.forget,
	})
	if err != nil {
		h.Fatal(err)
	}
}

// branched waits until a home that is on goes on as another one.
func (h *home) branched(s store.Store) {
	h.Helper()
	if err := <-h.ended; !errors.Is(err, share.ErrRenewed) {
		h.Fatalf("it ended with %v", err)
	}
	h.ended <- nil
	h.stop()
	h.open(s)
	h.start()
}

// shown is every record that a home shows, by its id.
func (h *home) shown() map[events.ID]bool {
	h.Helper()
	shown, next := map[events.ID]bool{}, events.Position(1)
	for r, err := range h.union.All(context.Background(), 1) {
		if err != nil || r.Position != next || shown[r.ID] {
			h.Fatalf("record %d, after %d: %v; shown before: %v", r.Position, next-1, err, shown[r.ID])
		}
		shown[r.ID] = true
		next++
	}
	return shown
}

// TestCopiedHome: a home and its copy both go on, and every home comes to show what all of them recorded, each record once. So it is with the
// copy of a copy, for a home that enters later, and where the order was lost and is made anew.
func TestCopiedHome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := storetest.NewMemory()
		a := newHome(t, engine.Connect(nil), "a", nil)
		b := newHome(t, engine.Connect(nil), "b", a)
		a.work(700, 50)
		a.start()
		b.start()
		time.Sleep(time.Minute)
		a.stop()
		c := a.copied(engine.Connect(nil))
		a.open(engine.Connect(nil))
		a.start()
		a.work(600, 50)
		time.Sleep(time.Minute)
		c.work(800, 50)
		c.start()
		c.branched(engine.Connect(nil))
		time.Sleep(time.Minute)
		c.stop()
		d := c.copied(engine.Connect(nil))
		c.open(engine.Connect(nil))
		c.start()
		c.work(10, 50)
		time.Sleep(time.Minute)
		d.work(20, 50)
		d.start()
		d.branched(engine.Connect(nil))
		late := newHome(t, engine.Connect(nil), "late", b)
		late.start()
		time.Sleep(5 * time.Minute)
		b.stop()
		if err := os.Remove(filepath.Join(b.dir, "copies", "order")); err != nil {
			t.Fatal(err)
		}
		b.open(engine.Connect(nil))
		b.start()
		time.Sleep(5 * time.Minute)
		const all = 701 + 600 + 800 + 10 + 20 + 1 + 1
		for i, h := range []*home{a, b, c, d, late} {
			if n := len(h.shown()); n != all {
				t.Errorf("home %d shows %d records of %d: %+v", i, n, all, must(h.share.Status(t.Context())))
			}
			if st := must(h.share.Status(t.Context())); len(st.Machines) != 5 || len(st.Problems) > 0 {
				t.Errorf("home %d: %d machines, %v", i, len(st.Machines), st.Problems)
			}
			h.stop()
		}
	})
}

// TestRestoredHome: a home that was restored from a backup, where the store has more already, goes on as a machine and a log of its own. All
// that it and the home before it recorded is with all, and what they have in common is one.
func TestRestoredHome(t *testing.T) {
	t.Parallel()
	for _, more := range []int{2, 9} {
		t.Run(fmt.Sprint(more), func(t *testing.T) { restoredHome(t, more) })
	}
}

// restoredHome writes more records after a backup of 5 than were written before it was restored, which are 5, or less.
func restoredHome(t *testing.T, more int) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(5, 10)
		f.rest(time.Minute)
		backup := a.clone()
		f.machines = f.machines[:2]
		a.work(5, 10)
		f.rest(time.Minute)
		a.crash(false)
		first := a.id()
		f.machines = []*machine{b, backup}
		backup.work(more, 10)
		backup.start()
		f.rest(10 * time.Minute)
		st := backup.status()
		want := share.Branch{At: st.Own.Branch.At, From: 6, Machine: "machine0", Absent: true}
		if *st.Own.Branch != want || st.Own.Log == first || len(st.Problems) > 0 {
			f.Errorf("the restored home says %+v, branch %+v", st, st.Own.Branch)
		}
		if len(b.copyOf(first)) != 10 || len(b.copyOf(backup.id())) != 5+more || len(backup.copyOf(first)) != 10 {
			f.Errorf("the other machine has %d and %d records, the restored one %d", len(b.copyOf(first)), len(b.copyOf(backup.id())),
				len(backup.copyOf(first)))
		}
		a.start() // it was a copy, then
		f.machines = append(f.machines, a)
		f.rest(10 * time.Minute)
		f.check()
		time.Sleep(10 * time.Minute)
		if st := backup.status(); st.Own.Branch.Absent || len(st.Machines) != 3 || st.Machines[2].Name != "machine0-2" {
			f.Errorf("with the first home on: %+v", st)
		}
		id := a.record(2)
		f.erased[id] = true // by whichever name it is asked for
		if _, err := b.share.Forget(f.Context(), events.Place{Log: first, Position: 2}); err != nil {
			f.Fatal(err)
		}
		f.rest(10 * time.Minute)
		f.check()
	})
}

// TestRestoredLog: where the log alone was restored the home says so itself: it is the machine that it was. What was forgotten meanwhile is
// forgotten again.
func TestRestoredLog(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(5, 10)
		f.rest(time.Minute)
		backup, first := a.log.copied(), a.id()
		a.work(5, 10)
		f.erased[a.record(2)] = true
		if _, err := a.share.Forget(f.Context(), a.place(2)); err != nil {
			f.Fatal(err)
		}
		f.rest(time.Minute)
		a.crash(false)
		a.log, a.copies.own = backup, backup
		a.work(3, 10)
		a.start()
		f.rest(10 * time.Minute)
		st := a.status()
		if br := st.Own.Branch; br == nil || br.Machine != "" || br.From != 6 || len(st.Machines) != 2 || len(st.Problems) > 0 || st.Own.Log == first {
			f.Errorf("the home says %+v, branch %+v", st, br)
		}
		if len(b.copyOf(first)) != 10 || len(b.copyOf(a.id())) != 8 {
			f.Errorf("the other machine has %d and %d records", len(b.copyOf(first)), len(b.copyOf(a.id())))
		}
		f.check()
	})
}

// TestLateNote: who asks to forget a record knows one of its names alone. The home that knows the other tells all.
func TestLateNote(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(5, 10)
		f.rest(time.Minute)
		clone := a.clone()
		f.machines = []*machine{a, b}
		a.work(1, 10)
		f.rest(time.Minute)
		f.machines = append(f.machines, clone)
		b.store.Set(storetest.Faults{Cut: true}) // it does not see the log by its other name
		clone.work(1, 10)
		clone.start()
		time.Sleep(10 * time.Second)
		f.tend()
		time.Sleep(time.Minute)
		if st := clone.status(); st.Own.Branch == nil || st.Own.Shipped != 6 {
			t.Fatalf("the copy says %+v", st.Own)
		}
		f.erased[a.record(3)] = true
		if _, err := b.share.Forget(f.Context(), events.Place{Log: a.id(), Position: 3}); err != nil {
			f.Fatal(err)
		}
		time.Sleep(time.Minute)
		b.store.Set(storetest.Faults{})
		f.rest(10 * time.Minute)
		f.check()
	})
}

// TestRestoredHomeAndStore: where the store was restored too, a restored home learns it from who has read more, and goes on as another log.
func TestRestoredHomeAndStore(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(3, 10)
		f.rest(time.Minute)
		backup, then := a.clone(), f.engine.Snapshot()
		f.machines = f.machines[:2]
		a.work(3, 10)
		f.rest(time.Minute)
		a.crash(false)
		f.machines = []*machine{b, backup}
		first := a.id()
		f.engine.Restore(then)
		backup.work(6, 10)
		backup.start()
		f.rest(30 * time.Minute)
		if len(f.ledger.broken) > 0 || len(b.copyOf(first)) != 6 || len(b.copyOf(backup.id())) != 9 {
			f.Errorf("the other machine has %d and %d records; %v", len(b.copyOf(first)), len(b.copyOf(backup.id())), f.ledger.broken)
		}
		if st := backup.status(); st.Own.Branch == nil || st.Own.Branch.Machine != "machine0" {
			f.Errorf("the restored home says %+v", st)
		}
	})
}

// TestForgetOfRestoredLogAndStore: where log and store were restored a home does not know how far its log is the one that others read.
// What is forgotten by that one's name, by who does not know the new one yet, is forgotten by both once it does.
func TestForgetOfRestoredLogAndStore(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(3, 10)
		f.rest(time.Minute)
		then := f.engine.Snapshot()
		a.work(3, 10)
		f.rest(time.Minute)
		backup, first := a.log.copied(), a.id()
		a.work(2, 10)
		f.rest(time.Minute)
		a.crash(false)
		f.engine.Restore(then)
		b.store.Set(storetest.Faults{Cut: true})
		a.log, a.copies.own = backup, backup
		a.work(1, 10)
		a.start()
		time.Sleep(10 * time.Second)
		f.tend()
		time.Sleep(time.Minute)
		if st := a.status(); st.Own.Branch == nil || st.Own.Branch.From != 4 || st.Own.Shipped != 7 {
			t.Fatalf("the restored home says %+v, branch %+v", st.Own, st.Own.Branch)
		}
		if _, err := b.share.Forget(f.Context(), events.Place{Log: first, Position: 5}); err != nil {
			f.Fatal(err)
		}
		time.Sleep(time.Minute)
		b.store.Set(storetest.Faults{})
		f.rest(10 * time.Minute)
		r, err := a.log.Get(f.Context(), 5)
		if err != nil || !r.Erased {
			f.Errorf("the restored home has what was forgotten: erased %t, %v", r.Erased, err)
		}
		for _, log := range []events.LogID{first, a.id()} {
			if records := b.copyOf(log); len(records) < 5 || !records[4].Erased || records[3].Erased {
				f.Errorf("the other machine has %d records of %s", len(records), log)
			}
		}
	})
}

// salvaged is h's log as a salvage makes it that could not read one record, in another file.
func (h *home) salvaged(lost events.Position) *eventlog.Bolt {
	h.Helper()
	var export bytes.Buffer
	if _, err := eventlog.Export(context.Background(), h.log, &export, 1); err != nil {
		h.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(export.String()), "\n")
	lines[lost] = fmt.Sprintf(`{"position":%d,"lost":"it is damaged"}`, lost)
	lines[len(lines)-1] = fmt.Sprintf(`{"records":%d}`, len(lines)-3)
	log := logtest.Open(h.TB, eventlog.Config{Codec: h.codec})
	var gaps *eventlog.IncompleteError
	if _, err := eventlog.Import(context.Background(), log, strings.NewReader(strings.Join(lines, "\n")+"\n")); !errors.As(err, &gaps) {
		h.Fatal(err)
	}
	return log
}

// TestSalvagedLog: a log that lost a record in its middle goes on as another one, also where the record that was sent last is as it was:
// the others have the streams that were laid anew as they were before.
func TestSalvagedLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := storetest.NewMemory()
		a := newHome(t, engine.Connect(nil), "a", nil)
		b := newHome(t, engine.Connect(nil), "b", a)
		a.work(9, 50)
		if _, err := eventlog.AppendEnd(t.Context(), a.log, events.Daemon, events.Draft{
			ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: events.DaemonStopped{Clean: true},
		}); err != nil {
			t.Fatal(err)
		}
		a.start()
		b.start()
		time.Sleep(time.Minute)
		a.stop()
		a.log = a.salvaged(5)
		a.open(engine.Connect(nil))
		a.work(3, 50)
		a.start()
		if time.Sleep(time.Minute); len(a.ended) == 0 {
			t.Errorf("it goes on as the log that it was: %+v; the other one: %+v", must(a.share.Status(t.Context())), must(b.share.Status(t.Context())))
			a.stop()
			b.stop()
			return
		}
		a.branched(engine.Connect(nil))
		time.Sleep(5 * time.Minute)
		const all = 10 + 1 + 2 + 3 + 1 // a's first and work, its stop, placeholder and signature, its work, b's first
		for i, h := range []*home{a, b} {
			if st := must(h.share.Status(t.Context())); len(h.shown()) != all || len(st.Problems) > 0 {
				t.Errorf("home %d shows %d records of %d: %+v", i, len(h.shown()), all, st)
			}
			h.stop()
		}
	})
}

// TestLostLog: where the log was lost and begun anew the copy that comes of it from the store has nothing of what was forgotten, also where
// the store was not reached since.
func TestLostLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := storetest.NewMemory()
		s := engine.Connect(nil)
		a := newHome(t, s, "a", nil)
		a.work(9, 50)
		a.start()
		time.Sleep(time.Minute)
		a.stop()
		a.open(s)
		s.Set(storetest.Faults{Cut: true})
		a.start()
		first := mustLogID(t, a.log)
		if _, err := a.share.Forget(t.Context(), events.Place{Position: 5}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if r, err := a.log.Get(t.Context(), 5); err != nil || !r.Erased {
			t.Fatalf("not forgotten: %v", err)
		}
		a.stop()
		a.log = logtest.Open(t, eventlog.Config{Codec: a.codec})
		a.work(1, 50)
		a.open(s)
		a.start()
		s.Set(storetest.Faults{})
		time.Sleep(10 * time.Minute)
		at, ok := a.union.At(events.Place{Log: first, Position: 5})
		if !ok || len(a.shown()) != 11 {
			t.Fatalf("%d records are here", len(a.shown()))
		}
		if r, err := a.union.Get(t.Context(), at); err != nil || !r.Erased {
			t.Errorf("what was forgotten is here again: %v", err)
		}
		a.stop()
	})
}

func mustLogID(t *testing.T, log eventlog.Reader) events.LogID {
	t.Helper()
	id, err := eventlog.ID(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
