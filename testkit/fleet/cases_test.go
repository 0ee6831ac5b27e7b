package fleet

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/secrets"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// inFleet runs a test with machines that are on.
func inFleet(t *testing.T, machines int, test func(f *fleet)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, machines, 1)
		defer f.off()
		for _, m := range f.machines {
			m.start()
		}
		test(f)
	})
}

// TestSecrets: of 40 secrets and raw outputs nothing is in any byte that the store ever had (F7).
func TestSecrets(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		var planted []string
		for i, s := range secrets.Make(7)[:40] {
			output := fmt.Sprintf("raw output %d of a tool, %s, and what follows", i, s.Text)
			planted = append(planted, s.Find, output)
			stream := events.SessionIDOf("fleet", "secrets").Stream()
			a.log.append(stream, events.ToolUsed{Tool: "Bash", Input: `{"command":"env"}`, Output: output})
			a.log.append(stream, events.PromptSubmitted{Number: i, Text: "use " + s.Text})
		}
		f.rest(time.Minute)
		a.share.Forget(f.Context(), a.place(3), a.place(4))
		f.erased[a.record(3)], f.erased[a.record(4)] = true, true
		f.rest(time.Minute)
		f.check()
		if n := len(b.copies.of(a.id())); n != 80 {
			f.Errorf("the other has %d of 80 records", n)
		}
		planted = append(planted, "ToolUsed", "tool_used", "prompt_submitted", a.name, b.name)
		bodies := 0
		for key, body := range f.engine.Ever() {
			if bodies++; strings.HasSuffix(string(key), "/space") {
				planted = planted[:80] // the manifest has the machines' names
			}
			for _, p := range planted {
				raw := []byte(p)
				for _, form := range [][]byte{raw, []byte(base64.StdEncoding.EncodeToString(raw))[:len(raw)], []byte(hex.EncodeToString(raw))} {
					if bytes.Contains(body, form) || strings.Contains(string(key), p) {
						f.Errorf("%s has %.20q", key, p)
					}
				}
			}
		}
		if bodies < 5 {
			f.Errorf("the store had %d objects: nothing was looked at", bodies)
		}
	})
}

// TestAsleep: a machine that was off has the others' forgotten before it is ready, and is not long behind.
func TestAsleep(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, laptop := f.machines[0], f.machines[1]
		a.work(100, 50)
		f.rest(time.Minute)
		laptop.crash(false)
		for i := range 20 {
			f.erased[a.record(events.Position(2*i+1))] = true
			if _, err := a.share.Forget(f.Context(), a.place(events.Position(2*i+1))); err != nil {
				f.Fatal(err)
			}
		}
		for range 50 {
			a.work(100, 50)
			time.Sleep(10 * time.Minute)
		}
		st := a.status()
		if len(st.Forgets) != 20 || st.Forgets[0].Waiting[0] != laptop.name || !st.Forgets[0].Store || st.Machines[1].Unread != 5000 {
			f.Errorf("while it sleeps: %d forgets, %+v", len(st.Forgets), st)
		}
		began := time.Now()
		laptop.start()
		<-laptop.share.Ready()
		f.gone("the laptop, which is ready,", laptop.copies.of(a.id()))
		if waited := time.Since(began); waited > 2*time.Second {
			f.Errorf("ready after %v", waited)
		}
		for len(laptop.copies.of(a.id())) < 5100 && time.Since(began) < time.Minute {
			time.Sleep(100 * time.Millisecond)
		}
		if waited := time.Since(began); waited > 20*time.Second {
			f.Errorf("it has all after %v", waited)
		}
		f.rest(time.Minute)
		f.check()
	})
}

// TestForgetDamaged: what another machine cannot seal anew, because it is damaged, its owner does when it is back.
func TestForgetDamaged(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(5, 50)
		f.rest(time.Minute)
		a.crash(false)
		keys, bodies := f.segments()
		bodies[0][len(bodies[0])-1] ^= 1
		f.engine.Tamper(keys[0], bodies[0])
		f.erased[a.record(2)] = true
		if _, err := b.share.Forget(f.Context(), a.place(2)); err != nil {
			f.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		st := b.status()
		if len(st.Forgets) != 1 || !st.Forgets[0].Here || st.Forgets[0].Store || !strings.Contains(fmt.Sprint(st.Problems), "damaged") {
			f.Errorf("while it is damaged: %+v", st)
		}
		a.start()
		f.rest(10 * time.Minute)
		f.check()
	})
}

// TestForgetLost: what is to be sealed anew and is not in the store any more is put there by its owner as the log has it now.
func TestForgetLost(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(5, 50)
		f.rest(time.Minute)
		a.crash(false)
		keys, _ := f.segments()
		f.engine.Forget(keys[0])
		f.erased[a.record(2)] = true
		if _, err := b.share.Forget(f.Context(), a.place(2)); err != nil {
			f.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if st := b.status(); len(st.Forgets) != 1 || !st.Forgets[0].Store || len(st.Forgets[0].Waiting) != 1 {
			f.Errorf("while its owner is off: %+v", st)
		}
		a.start()
		f.rest(10 * time.Minute)
		if keys, _ := f.segments(); len(keys) != 1 {
			f.Errorf("the store has %d segments of 1", len(keys))
		}
		f.check()
	})
}

// TestForgetLostInOneOf: a request to forget records of two logs is carried out where a segment of one of them is lost, whichever is first.
func TestForgetLostInOneOf(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, 3, func(f *fleet) {
				a, b, c := f.machines[0], f.machines[1], f.machines[2]
				a.work(3, 50)
				b.work(3, 50)
				f.rest(time.Minute)
				a.crash(false)
				b.crash(false)
				lost := a
				if aIsFirst := slices.Compare(a.named[:], b.named[:]) < 0; aIsFirst != (name == "first") {
					lost = b
				}
				keys, _ := f.segmentsOf(lost)
				f.engine.Forget(keys[0])
				f.erased[a.record(2)], f.erased[b.record(2)] = true, true
				if _, err := c.share.Forget(f.Context(), a.place(2), b.place(2)); err != nil {
					f.Fatal(err)
				}
				time.Sleep(10 * time.Minute)
				if st := c.status(); len(st.Forgets) != 1 || !st.Forgets[0].Store {
					f.Errorf("while the owners are off: %+v", st.Forgets)
				}
				a.start()
				b.start()
				f.rest(10 * time.Minute)
				f.check()
			})
		})
	}
}

// TestForgetCopied: what a home forgot that was copied before is gone from its copy of the log that is the other home's from then on, also
// where the store was there just long enough for the request to reach it.
func TestForgetCopied(t *testing.T) {
	for _, there := range []time.Duration{3 * time.Second, 5 * time.Second, 7 * time.Second} {
		t.Run(there.String(), func(t *testing.T) {
			inFleet(t, 2, func(f *fleet) {
				a := f.machines[0]
				a.work(5, 50)
				f.rest(time.Minute)
				c := a.clone()
				a.store.Set(storetest.Faults{Cut: true})
				f.erased[a.record(3)] = true
				if _, err := a.share.Forget(f.Context(), events.Place{Position: 3}); err != nil {
					f.Fatal(err)
				}
				c.work(2, 50)
				c.start()
				time.Sleep(time.Minute)
				c.crash(false)
				a.work(4, 50)
				a.store.Set(storetest.Faults{Delay: time.Second})
				time.Sleep(there)
				a.store.Set(storetest.Faults{Cut: true})
				time.Sleep(time.Minute)
				a.store.Set(storetest.Faults{})
				for range 5 {
					time.Sleep(time.Minute)
					f.tend()
				}
				c.start()
				f.revokeGone()
				f.rest(70 * time.Minute)
				f.check()
			})
		})
	}
}

// TestCutOtherwise: segments that were lost are sent again as one, and who has the first of them goes on within it.
func TestCutOtherwise(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(3, 50)
		f.rest(time.Minute)
		b.crash(false)
		a.work(3, 50)
		time.Sleep(time.Minute)
		keys, _ := f.segments()
		for _, key := range keys {
			f.engine.Forget(key)
		}
		f.join("late").start()
		time.Sleep(10 * time.Minute)
		if again, _ := f.segments(); len(keys) != 2 || len(again) != 1 {
			f.Errorf("%d segments were sent again as %d", len(keys), len(again))
		}
		b.start()
		f.rest(10 * time.Minute)
		f.check()
	})
}

// TestDamagedBeforeItWasKnown: the answer to a segment is lost, and what is there cannot be read: in time it is written anew.
func TestDamagedBeforeItWasKnown(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a := f.machines[0]
		a.work(1, 50)
		f.rest(time.Minute)
		a.store.Set(storetest.Faults{Lose: 1})
		a.work(3, 50)
		time.Sleep(4 * time.Second)
		keys, bodies := f.segments()
		if len(keys) != 2 || a.status().Own.Shipped != 1 {
			f.Fatalf("%d segments, %+v", len(keys), a.status().Own)
		}
		f.engine.Tamper(keys[1], bodies[1][:200])
		a.store.Set(storetest.Faults{})
		time.Sleep(time.Minute)
		if st := a.status(); st.Own.Shipped != 1 || !strings.Contains(fmt.Sprint(st.Problems), "damaged") {
			f.Errorf("while another home may have written it: %+v", st)
		}
		f.rest(10 * time.Minute)
		f.check()
	})
}

// TestLive: at 50 events a second the other machine has them within 5 s, over 200 ms of distance.
func TestLive(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		for _, m := range f.machines {
			m.store.Set(storetest.Faults{Delay: 200 * time.Millisecond})
		}
		a.work(1, 50)
		time.Sleep(time.Minute)
		for i := range 20 * 50 {
			a.work(1, 50)
			time.Sleep(20 * time.Millisecond)
			if missing := i + 2 - len(b.copies.of(a.id())); missing > 5*50 {
				f.Fatalf("%d records are missing: %v", missing, b.status())
			}
		}
	})
}

// TestWipedStore: all three disks of the store are gone. The owners send everything again, and the space is what it was.
func TestWipedStore(t *testing.T) {
	inFleet(t, 3, func(f *fleet) {
		for _, m := range f.machines {
			m.work(1000, 10)
		}
		f.rest(time.Minute)
		f.engine.Restore(storetest.Snapshot{})
		f.rest(30 * time.Minute)
		time.Sleep(2 * time.Hour)
		late := f.join("late")
		late.start()
		f.rest(10 * time.Minute)
		f.check()
	})
}

// TestStoreOfLastWeek gives last week's state for good: it gets what it misses, and nothing that was forgotten comes back.
func TestStoreOfLastWeek(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a := f.machines[0]
		a.work(600, 10)
		f.rest(time.Minute)
		then := f.engine.Snapshot()
		f.erased[a.record(7)] = true
		if _, err := a.share.Forget(f.Context(), a.place(7)); err != nil {
			f.Fatal(err)
		}
		late := f.join("late")
		late.start()
		a.work(600, 10)
		f.rest(time.Minute)
		f.engine.Restore(then)
		time.Sleep(time.Minute)
		said := ""
		for _, m := range f.machines {
			said += fmt.Sprint(m.status().Problems)
		}
		if !strings.Contains(said, "older state than before") { // by whoever found it first, and put it right
			f.Errorf("of the store's state is said: %s", said)
		}
		time.Sleep(25 * time.Hour)
		f.rest(30 * time.Minute)
		for _, m := range f.machines {
			f.gone(m.name, m.copies.of(a.id()))
			if n := len(m.space.Manifest().Machines()); n != 3 {
				f.Errorf("%s knows %d machines of 3", m.name, n)
			}
			if p := m.status().Problems; len(p) > 0 {
				f.Errorf("%s has problems still: %v", m.name, p)
			}
		}
	})
}

// TestRevokedMachine: it can neither send nor read any more, and says why.
func TestRevokedMachine(t *testing.T) {
	inFleet(t, 3, func(f *fleet) {
		a, stolen, c := f.machines[0], f.machines[1], f.machines[2]
		stolen.work(5, 10)
		f.rest(time.Minute)
		if err := a.share.Revoke(f.Context(), stolen.space.Self()); err != nil {
			f.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		stolen.work(5, 10)
		a.work(5, 10)
		time.Sleep(2 * time.Minute)
		st := stolen.status()
		if st.Own.Shipped != 5 || !strings.Contains(fmt.Sprint(st.Problems), space.ErrRevoked.Error()) {
			f.Errorf("the revoked machine: %+v", st)
		}
		if _, err := stolen.share.Forget(f.Context(), a.place(1)); err != nil {
			f.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if r, err := a.log.Get(f.Context(), 1); err != nil || r.Erased || !strings.Contains(fmt.Sprint(a.status().Problems), "was revoked") {
			f.Errorf("the revoked machine has a record forgotten: %v, %+v", err, a.status())
		}
		if n := len(stolen.copies.of(a.id())); n != 0 {
			f.Errorf("the revoked machine read %d records", n)
		}
		if n := len(c.copies.of(a.id())); n != 5 {
			f.Errorf("the third machine has %d records of 5: %+v", n, c.status())
		}
		if m := a.status().Machines; len(m) != 3 || !m[1].Revoked || m[1].Logs[0].Here != 5 {
			f.Errorf("machines: %+v", m)
		}
	})
}

// TestHostileObjects: whatever a store puts under the keys of others is named, and what is here stays.
func TestHostileObjects(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(3, 10)
		b.work(3, 10)
		f.rest(time.Minute)
		id := a.space.ID().String()
		bodies := map[store.Key][]byte{}
		for key, body := range f.engine.Now() {
			bodies[key] = body
		}
		watched := func(name string) store.Key { return store.Key(id + "/" + space.WatchedPart + "/" + name) }
		junk := [][]byte{nil, {1}, bytes.Repeat([]byte{'{'}, 200), []byte(strings.Repeat("a", 64) + `{"machine":"x"}`)}
		for i, body := range junk {
			f.engine.Tamper(watched(fmt.Sprintf("forget/%d", i)), body)
			f.engine.Tamper(watched("head/"+events.LogID{byte(i + 1)}.String()), body)
			f.engine.Tamper(watched(fmt.Sprintf("seen/%d", i)), body)
			f.engine.Tamper(watched(fmt.Sprintf("newer/%d", i)), body)
		}
		for key, body := range bodies { // what one machine signed, in the place of another's
			if strings.Contains(string(key), "/head/"+a.id().String()) {
				f.engine.Tamper(watched("head/"+events.LogID{9}.String()), body)
				f.engine.Tamper(watched("forget/9"), body)
				f.engine.Tamper(watched("seen/"+b.space.Self().String()), body)
			}
		}
		forged := fmt.Sprintf(`{"machine":"%s","id":"%s","logs":[{"log":"%s","spans":[{"from":1,"to":1}]}]}`, b.space.Self(), uuid.Nil, a.id())
		f.engine.Tamper(watched("forget/"+uuid.Nil.String()), []byte(strings.Repeat("s", 64)+forged))
		time.Sleep(5 * time.Minute)
		if r, err := a.log.Get(f.Context(), 1); err != nil || r.Erased || !strings.Contains(fmt.Sprint(a.status().Problems), uuid.Nil.String()) {
			f.Errorf("a note that nobody signed was carried out: %v", err)
		}
		for i := range junk {
			head := "head/" + (events.LogID{byte(i + 1)}).String()
			for _, about := range []string{fmt.Sprintf("forget/%d: ", i), fmt.Sprintf("seen/%d: ", i), head} {
				if !strings.Contains(strings.Join(a.status().Problems, "\n"), about) {
					f.Errorf("nothing is said of %s: %v", about, a.status().Problems)
				}
			}
		}
		a.work(3, 10)
		time.Sleep(5 * time.Minute)
		if n := len(b.copies.of(a.id())); n != 6 || len(b.copies.Copies()) != 1 {
			f.Errorf("the other has %d records of 6: %+v", n, b.status())
		}
	})
}

// TestTooLarge: a record that no segment holds travels without its payload, and that is counted.
func TestTooLarge(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(1, 10)
		noise := make([]byte, 600<<10)
		rand.NewChaCha8([32]byte{}).Read(noise)
		a.log.append(events.Daemon, events.MemorySaved{Text: hex.EncodeToString(noise)})
		a.work(1, 10)
		f.rest(time.Minute)
		got := b.copies.of(a.id())
		if len(got) != 3 || !got[1].Withheld || got[2].Erased || a.status().Own.Withheld != 1 {
			f.Errorf("%d records, withheld %v; %+v", len(got), got[1].Withheld, a.status().Own)
		}
		a.crash(false)
		a.start()
		if n := a.status().Own.Withheld; n != 1 {
			f.Errorf("after a restart %d records are withheld", n)
		}
	})
}

// TestFlush returns once all is in the store, without waiting for more.
func TestFlush(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a := f.machines[0]
		a.work(3, 10)
		time.Sleep(10 * time.Second)
		a.work(3, 10)
		began := time.Now()
		a.store.Set(storetest.Faults{Delay: 100 * time.Millisecond})
		if err := a.share.Flush(f.Context()); err != nil || time.Since(began) > time.Second || a.status().Own.Shipped != 6 {
			f.Errorf("after %v: %v, %+v", time.Since(began), err, a.status().Own)
		}
		found := false
		for key, body := range f.engine.Now() { // others read as far as the head says
			found = found || key == a.watched("head/"+a.id().String()) && bytes.Contains(body, []byte(`"last":6,`))
		}
		if !found {
			f.Error("the head in the store does not say so")
		}
		a.store.Set(storetest.Faults{Cut: true})
		a.work(1, 10)
		ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
		defer cancel()
		if err := a.share.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			f.Errorf("without a store: %v", err)
		}
		if st := a.status(); st.Own.Records != 1 || st.Own.Seconds < 59 || len(st.Problems) == 0 {
			f.Errorf("without a store: %+v", st)
		}
	})
}

// TestFiles: of a newer program's files nothing is believed or written over; damaged ones are made again where that can be.
func TestFiles(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a := f.machines[0]
		a.work(3, 10)
		a.share.Forget(f.Context(), a.place(1))
		f.erased[a.record(1)] = true
		f.rest(time.Minute)
		a.crash(false)
		dir := filepath.Join(a.dir, "share")
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				f.Fatal(err)
			}
		}
		again := share.Config{Dir: dir, Space: a.space, Own: a.log, Copies: a.copies, Codec: f.codec}
		write("feeds", `{"format":2}`)
		if _, err := share.New(again); !errors.Is(err, share.ErrState) {
			f.Errorf("feeds of a newer program: %v", err)
		}
		write("feeds", `{"format":1,`)
		a.start()
		f.rest(time.Minute)
		f.check()
		a.crash(false)
		write("forget", `{"format":1,`)
		if _, err := share.New(again); err == nil {
			f.Error("what is to be forgotten was lost without a word")
		}
	})
}
