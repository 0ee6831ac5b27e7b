package fleet

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// watched is the key of an object that machines watch.
func (m *machine) watched(name string) store.Key {
	return store.Key(m.space.ID().String() + "/" + space.WatchedPart + "/" + name)
}

// ask puts a request to forget into the store that the machine signs, whatever it says, and returns its name.
func (m *machine) ask(logs string) string {
	m.Helper()
	name, id := uuid.Must(uuid.NewV7()).String(), m.space.ID()
	text := fmt.Sprintf(`{"machine":"%s","id":"%s","logs":%s}`, m.space.Self(), name, logs)
	signature := ed25519.Sign(m.space.Keys().Signer(), slices.Concat([]byte("cmemd forget\x00"), id[:], []byte(text)))
	m.engine.Tamper(m.watched("forget/"+name), append(signature, text...))
	return name
}

// TestHostileNotes: a request that a machine signed and that names nothing, or more than there can be, is refused, and named.
func TestHostileNotes(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(3, 10)
		f.rest(time.Minute)
		var names []string
		for _, logs := range []string{
			`[]`, `null`, `[{"log":"%[1]s"}]`, `[{"log":"%[1]s","spans":[]}]`, `[{"spans":[{"from":1,"to":1}]}]`,
			`[{"log":"%[1]s","spans":[{"from":%[2]d,"to":%[2]d}]}]`, `[{"log":"%[1]s","spans":[{"from":2,"to":2},{"from":1,"to":1}]}]`,
		} {
			names = append(names, b.ask(strings.NewReplacer("%[1]s", a.id().String(), "%[2]d", fmt.Sprint(uint64(math.MaxUint64))).Replace(logs)))
		}
		time.Sleep(2 * time.Minute)
		said := fmt.Sprint(a.status().Problems)
		for i, name := range names {
			if !strings.Contains(said, name) {
				f.Errorf("nothing is said of request %d: %s", i, said)
			}
		}
		records, _ := a.log.state()
		if slices.ContainsFunc(records, func(r events.Record) bool { return r.Erased }) {
			f.Error("a record was erased")
		}
		a.crash(false)
		a.start()
		a.work(1, 10)
		time.Sleep(time.Minute)
		if n := len(b.copies.of(a.id())); n != 4 {
			f.Errorf("the other machine has %d records of 4", n)
		}
	})
}

// TestNotesOfWhoLeft: what a machine asks once it has left is refused; what it asked before is done by who wakes later.
func TestNotesOfWhoLeft(t *testing.T) {
	inFleet(t, 3, func(f *fleet) {
		a, b, late := f.machines[0], f.machines[1], f.machines[2]
		a.work(3, 10)
		f.rest(time.Minute)
		late.crash(false)
		if _, err := b.share.Forget(f.Context(), a.place(1)); err != nil {
			f.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := b.space.Leave(f.Context(), time.Now()); err != nil {
			f.Fatal(err)
		}
		b.crash(false)
		time.Sleep(time.Minute)
		b.ask(fmt.Sprintf(`[{"log":"%s","spans":[{"from":2,"to":2}]}]`, a.id()))
		late.start()
		time.Sleep(2 * time.Minute)
		own, _ := a.log.state()
		for where, records := range map[string][]events.Record{"its owner": own, "who slept": late.copies.of(a.id())} {
			if len(records) != 3 || !records[0].Erased || records[1].Erased {
				f.Errorf("%s has %d records, of which the first is erased: %v, the second: %v",
					where, len(records), records[0].Erased, records[1].Erased)
			}
		}
		if said := fmt.Sprint(late.status().Problems); !strings.Contains(said, "left or was revoked") {
			f.Errorf("of the second request is said: %s", said)
		}
	})
}

// TestPanic: an error in the program ends sharing, not the process, and is said.
func TestPanic(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a := f.machines[0]
		a.work(3, 10)
		f.rest(time.Minute)
		a.crash(false)
		s, err := share.New(share.Config{
			Dir: filepath.Join(a.dir, "share"), Space: a.space, Own: a.log, Copies: a.copies, Codec: a.codec,
			Forget: func(context.Context, []events.Place) error { panic("a bug") },
		})
		if err != nil {
			f.Fatal(err)
		}
		if _, err := s.Forget(f.Context(), a.place(1)); err != nil {
			f.Fatal(err)
		}
		if err := s.Run(f.Context()); err == nil || !strings.Contains(err.Error(), "a bug") {
			f.Errorf("it ended with %v", err)
		}
		if st := must(s.Status(f.Context())); !strings.Contains(fmt.Sprint(st.Problems), "an error in the program") {
			f.Errorf("status says %v", st.Problems)
		}
		f.erased[a.record(1)] = true
		a.start()
		f.rest(time.Minute)
		f.check()
	})
}

// TestAsleepAndStoreLost: a machine sleeps while words are forgotten, and the store is emptied, or restored from before, meanwhile. Nothing
// of them is left once it is awake, and a machine that enters later confirms too.
func TestAsleepAndStoreLost(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]bool{"emptied": true, "restored": false} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, 2, func(f *fleet) {
				a, laptop := f.machines[0], f.machines[1]
				a.work(5, 10)
				f.rest(time.Minute)
				laptop.crash(false)
				then := f.engine.Snapshot()
				if empty {
					then = nil
				}
				f.erased[a.record(2)] = true
				if _, err := a.share.Forget(f.Context(), a.place(2)); err != nil {
					f.Fatal(err)
				}
				time.Sleep(time.Minute)
				f.engine.Restore(then)
				time.Sleep(10 * time.Minute)
				laptop.start()
				f.rest(10 * time.Minute)
				f.check()
				f.join("late").start()
				f.rest(10 * time.Minute)
				f.check()
			})
		})
	}
}

// TestStoreOfYesterday: an older store is noticed by what this machine wrote itself, also where no machine came since.
func TestStoreOfYesterday(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprint("on ", on), func(t *testing.T) {
			inFleet(t, 2, func(f *fleet) {
				a := f.machines[0]
				a.work(5, 10)
				f.rest(time.Minute)
				then := f.engine.Snapshot()
				a.work(5, 10)
				f.rest(time.Minute)
				if said := fmt.Sprint(a.status().Problems); strings.Contains(said, "older state") {
					f.Errorf("before anything happened: %s", said)
				}
				if !on {
					a.crash(false)
				}
				f.engine.Restore(then)
				a.start()
				time.Sleep(10 * time.Minute)
				if said := fmt.Sprint(a.status().Problems); !strings.Contains(said, "older state than before") {
					f.Errorf("of the store's state is said: %s", said)
				}
				f.rest(10 * time.Minute)
				f.check()
			})
		})
	}
}

// TestNewcomerOfEmptiedStore: logs that name each other are sent again to a store that was emptied, and who enters then sees all of them at
// once, each behind what it names.
func TestNewcomerOfEmptiedStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := storetest.NewMemory()
		a := newHome(t, engine.Connect(nil), "a", nil)
		b := newHome(t, engine.Connect(nil), "b", a)
		for _, h := range []*home{a, b} {
			h.start()
			defer h.stop()
		}
		for range 5 {
			a.work(3, 50)
			time.Sleep(10 * time.Second)
			b.work(3, 50)
			time.Sleep(10 * time.Second)
		}
		engine.Restore(nil)
		time.Sleep(20 * time.Minute)
		c := newHome(t, engine.Connect(nil), "c", a)
		c.start()
		defer c.stop()
		time.Sleep(20 * time.Second)
		st := must(c.share.Status(t.Context()))
		if last := c.last(); last != 33 {
			t.Errorf("after 20 s it shows %d records of 33: %+v", last, st)
		}
		for _, m := range st.Machines {
			for _, log := range m.Logs {
				if log.Records > 0 || log.Here != 16 {
					t.Errorf("of %s it shows %+v", m.Name, log)
				}
			}
		}
	})
}

// TestSentByWhoLeft: what a machine sent is read also by who wakes once it left, and nothing that is signed with its key afterwards.
func TestSentByWhoLeft(t *testing.T) {
	inFleet(t, 3, func(f *fleet) {
		a, b, late := f.machines[0], f.machines[1], f.machines[2]
		late.crash(false)
		b.work(4, 10)
		time.Sleep(time.Minute)
		if err := b.share.Leave(f.Context()); err != nil {
			f.Fatal(err)
		}
		b.work(3, 10)
		time.Sleep(time.Minute)
		late.start()
		time.Sleep(2 * time.Minute)
		for _, m := range []*machine{a, late} {
			if n := len(m.copyOf(b.id())); n != 4 {
				f.Errorf("%s has %d records of 4: %+v", m.name, n, m.status())
			}
			if m := m.space.Manifest(); !m.Accepts(b.space.Self(), b.id(), 4) || m.Accepts(b.space.Self(), b.id(), 5) {
				f.Error("what is believed is not what was sent")
			}
		}
	})
}

// counted counts what is listed of logs.
type counted struct {
	store.Store
	listed atomic.Int64
}

func (c *counted) List(ctx context.Context, prefix string, after store.Key, limit int) ([]store.Entry, error) {
	found, err := c.Store.List(ctx, prefix, after, limit)
	if strings.Contains(prefix, "/log/") {
		c.listed.Add(int64(len(found)))
	}
	return found, err
}

// TestListsAreShort: to find the segment of one record not all of the log is listed, of which a folder opens each file.
func TestListsAreShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &counted{Store: storetest.NewMemory().Connect(nil)}
		h := newHome(t, s, "a", nil)
		h.start()
		defer h.stop()
		for range 300 {
			h.work(1, 50)
			time.Sleep(3 * time.Second)
		}
		s.listed.Store(0)
		if _, err := h.share.Forget(t.Context(), events.Place{Position: 100}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if st := must(h.share.Status(t.Context())); len(st.Forgets) > 0 || s.listed.Load() == 0 || s.listed.Load() > 50 {
			t.Errorf("%d of 300 segments were listed to forget one record: %+v", s.listed.Load(), st.Forgets)
		}
		all := must(h.share.Verify(t.Context(), func(_, _ uint64) {}))
		if len(all) != 1 || all[0].Problem != "" || all[0].Segments < 300 || s.listed.Load() > 700 {
			t.Errorf("%d were listed to verify: %+v", s.listed.Load(), all)
		}
	})
}
