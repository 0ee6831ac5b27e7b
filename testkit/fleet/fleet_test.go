package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// step is one thing that happens to a fleet, and how long it is quiet then.
type step struct {
	what    string
	machine int
	arg     int
	then    time.Duration
}

func drawSteps(t *rapid.T, what []string) []step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			what: rapid.SampledFrom(what).Draw(t, "what"), machine: rapid.IntRange(0, 9).Draw(t, "machine"),
			arg: rapid.IntRange(0, 1000).Draw(t, "arg"), then: time.Duration(rapid.IntRange(0, 20_000).Draw(t, "then ms")) * time.Millisecond,
		}
	}), 1, 25).Draw(t, "steps")
}

// do takes a step.
func (f *fleet) do(s step, random *rand.Rand) {
	f.tend()
	m := f.machines[s.machine%len(f.machines)]
	switch s.what {
	case "append":
		m.work(1+s.arg%7, s.arg)
	case "append much":
		m.work(700, 20)
	case "forget":
		m.forget(random)
	case "crash":
		m.crash(s.arg%2 == 0)
	case "start":
		m.start()
	case "cut":
		m.store.Set(storetest.Faults{Cut: true})
	case "shaky":
		m.store.Set(storetest.Faults{Refuse: 0.1, Lose: 0.1, Stale: 0.05, Hide: 0.05, Flip: 0.05, Delay: time.Duration(s.arg) * time.Millisecond})
	case "well":
		m.store.Set(storetest.Faults{})
	case "lose":
		f.lose(random)
	case "damage":
		f.damage(random)
	case "clone":
		if len(f.machines) < 5 && !strings.Contains(m.name, "'") {
			m.clone()
		}
	case "backup":
		m.backup = m.image(m.name)
	case "restore":
		m.restore()
	}
	time.Sleep(s.then)
}

// segments are the keys of those that are in the store.
func (f *fleet) segments() (keys []store.Key, bodies [][]byte) {
	for key, body := range f.engine.Now() {
		if strings.Contains(string(key), "/log/") && len(body) > 0 {
			keys, bodies = append(keys, key), append(bodies, body)
		}
	}
	return keys, bodies
}

// lose has the store lose a segment.
func (f *fleet) lose(random *rand.Rand) {
	if keys, _ := f.segments(); len(keys) > 0 {
		f.engine.Forget(keys[random.IntN(len(keys))])
	}
}

// damage changes a bit of a segment, or cuts it, in the store.
func (f *fleet) damage(random *rand.Rand) {
	keys, bodies := f.segments()
	if len(keys) == 0 {
		return
	}
	i := random.IntN(len(keys))
	b := bodies[i]
	if b[random.IntN(len(b))] ^= 1 << random.IntN(8); random.IntN(3) == 0 {
		b = b[:1+random.IntN(len(b)-1)]
	}
	f.engine.Tamper(keys[i], b)
}

// clocksApart is how far each machine's clock is ahead of the one's before it. A copy of a home has the first one's.
const clocksApart = 50 * time.Minute

// play takes steps, mends whatever is broken, and checks what has become of it.
func play(t *testing.T, machines int, seed uint64, steps []step) {
	f := newFleet(t, machines, seed)
	defer f.off()
	random := rand.New(rand.NewPCG(seed, 7))
	for i, m := range f.machines {
		m.clock = time.Duration(i) * clocksApart
		m.start()
	}
	for _, s := range steps {
		f.do(s, random)
	}
	for _, m := range f.machines {
		m.store.Set(storetest.Faults{})
		m.start()
	}
	for range 6 {
		time.Sleep(5 * time.Minute)
		f.tend()
	}
	f.revokeGone()
	// Longer than clocks are apart: of a home that was copied the report that says the later time is believed.
	f.rest(time.Duration(machines) * clocksApart)
	f.check()
}

// revokeGone does what a person is told to: it takes out what homes were before they were put back from a backup.
func (f *fleet) revokeGone() {
	f.Helper()
	first := f.machines[0]
	on := map[space.MemberID]bool{}
	for _, m := range f.machines {
		on[m.space.Self()] = true
	}
	for _, m := range first.status().Machines {
		if m.Gone.IsZero() && !on[m.ID] {
			if err := first.share.Revoke(f.Context(), m.ID); err != nil {
				f.Error(err)
			}
		}
	}
}

// simulate plays random steps.
func simulate(t *testing.T, what ...string) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		machines, seed := rapid.IntRange(2, 3).Draw(rt, "machines"), rapid.Uint64().Draw(rt, "seed")
		steps := drawSteps(rt, what)
		if !t.Run("run", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, machines, seed, steps) })
		}) {
			rt.Fatalf("failed: %d machines, seed %d, %s", machines, seed, fmt.Sprint(steps))
		}
	})
}

// TestFleet: whatever a connection does, each machine comes to have all logs as they are, without what was forgotten.
func TestFleet(t *testing.T) {
	simulate(t, "append", "append", "append", "append much", "forget", "forget", "crash", "start", "start", "cut", "shaky", "shaky", "well")
}

// TestBadStore: the same with a store that loses and damages segments.
func TestBadStore(t *testing.T) {
	simulate(t, "append", "append", "append", "forget", "crash", "start", "lose", "damage", "well")
}

// TestClones: the same where homes are copied, and put back from backups: at each place at most one record is ever taken, and all go on.
func TestClones(t *testing.T) {
	simulate(t, "append", "append", "append", "forget", "crash", "start", "start", "cut", "shaky", "well", "clone", "backup", "restore")
}

// TestTwo is the plain case.
func TestTwo(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(3, 10)
		time.Sleep(5 * time.Second)
		if got := len(b.copies.of(a.id())); got != 3 {
			t.Errorf("the other has %d of 3 records after 5 s: %+v", got, b.status())
		}
		if _, err := a.share.Forget(t.Context(), a.place(2)); err != nil {
			t.Fatal(err)
		}
		f.erased[a.record(2)] = true
		time.Sleep(5 * time.Second)
		if st := a.status(); len(st.Forgets) > 0 || len(st.Problems) > 0 {
			t.Errorf("after 5 s: %+v", st)
		}
		f.rest(time.Minute)
		f.check()
		if i := slices.IndexFunc(b.copies.of(a.id()), func(r events.Record) bool { return r.Erased }); i != 1 {
			t.Errorf("record %d is forgotten, want 2", i+1)
		}
	})
}
