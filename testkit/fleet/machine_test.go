package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// fleet is machines that share a space.
type fleet struct {
	testing.TB
	engine   *storetest.Memory
	codec    *events.Codec
	ledger   *ledger
	machines []*machine
	seed     uint64
	erased   map[events.ID]bool // what anybody asked to forget
	texts    int
}

// machine is one home. Its disk is log, copies and dir; all else goes with a crash.
type machine struct {
	*fleet
	name   string
	dir    string
	log    *memoryLog
	copies *memoryCopies
	clock  time.Duration // ahead of the others
	store  *storetest.Faulty
	space  *space.Space
	share  *share.Share // nil while it is off
	backup *machine     // of its disk; nil: there is none
	named  events.LogID // what the log was called in the store when that was seen last
	stop   context.CancelFunc
	ended  chan error
}

// newFleet makes a space of n machines, which are off.
func newFleet(tb testing.TB, n int, seed uint64) *fleet {
	f := &fleet{
		TB: tb, engine: storetest.NewMemory(), codec: events.NewCodec(), seed: seed, erased: map[events.ID]bool{},
		ledger: &ledger{taken: map[events.Place]events.Hash{}},
	}
	for i := range n {
		f.join(fmt.Sprint("machine", i))
	}
	return f
}

// join adds a machine: the first one makes the space, the others enter by its invitation.
func (f *fleet) join(name string) *machine {
	f.Helper()
	log := newLog(f.codec)
	m := &machine{fleet: f, name: name, dir: f.TempDir(), log: log, copies: newCopies(f.ledger, log)}
	var err error
	if m.store = f.connect(); len(f.machines) == 0 {
		m.space, _, err = space.Create(f.Context(), m.dir, m.store, name, time.Now())
	} else {
		var code space.Code
		if code, err = f.machines[0].space.Invite(f.Context(), name, "", time.Now()); err == nil {
			m.space, err = space.Enter(f.Context(), m.dir, m.store, code, name, "", time.Now())
		}
	}
	if err != nil {
		f.Fatal(err)
	}
	f.machines = append(f.machines, m)
	return m
}

func (f *fleet) connect() *storetest.Faulty {
	f.seed++
	return f.engine.Connect(rand.New(rand.NewPCG(f.seed, 0xf1ee7)))
}

func (m *machine) start() {
	m.Helper()
	if m.share != nil {
		return
	}
	var err error
	if m.space, err = space.Open(m.dir, m.store); err != nil {
		m.Fatal(err)
	}
	m.share, err = share.New(share.Config{
		Dir: filepath.Join(m.dir, "share"), Space: m.space, Own: m.log, Copies: m.copies, Codec: m.codec,
		Now:    func() time.Time { return time.Now().Add(m.clock) },
		Forget: func(_ context.Context, at []events.Place) error { return m.log.erase(m.own(at)...) },
	})
	if err != nil {
		m.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop, m.ended = stop, make(chan error, 1)
	go func() { m.ended <- m.share.Run(ctx) }()
}

// own are the positions of the own log among places.
func (m *machine) own(at []events.Place) (own []events.Position) {
	for _, p := range at {
		if p.Log == m.root() {
			own = append(own, p.Position)
		}
	}
	return own
}

// root is the log's id by its first record; zero while it is empty.
func (m *machine) root() events.LogID {
	records, _ := m.log.state()
	if len(records) == 0 {
		return events.LogID{}
	}
	return events.LogIDOf(records[0])
}

// id is what the log is called in the store; zero while it is empty.
func (m *machine) id() events.LogID {
	if m.share != nil {
		m.named = m.status().Own.Log
	}
	if m.named.IsZero() {
		return m.root()
	}
	return m.named
}

// place names a record of the machine's log, as another machine does.
func (m *machine) place(at events.Position) events.Place {
	return events.Place{Log: m.id(), Position: at}
}

// copyOf is the machine's copy of the log that is called so in the store.
func (m *machine) copyOf(log events.LogID) []events.Record {
	return m.copies.of(m.share.LocalLog(log))
}

// record is the machine's own record at a position.
func (m *machine) record(at events.Position) events.ID {
	records, _ := m.log.state()
	return records[at-1].ID
}

// crash ends the machine where it is. A loss of power also takes what was not synced.
func (m *machine) crash(power bool) {
	m.Helper()
	if m.share == nil {
		return
	}
	m.stop()
	if err := <-m.ended; err != nil && !errors.Is(err, share.ErrRenewed) {
		m.Errorf("%s ended with %v", m.name, err)
	}
	m.share = nil
	if power {
		if err := os.RemoveAll(filepath.Join(m.dir, "share", "feeds")); err != nil {
			m.Fatal(err)
		}
	}
}

// tend opens homes again that go on as another one.
func (f *fleet) tend() {
	for _, m := range f.machines {
		if m.share == nil {
			continue
		}
		select {
		case err := <-m.ended:
			m.ended <- err
			m.crash(false)
			m.start()
		default:
		}
	}
}

// clone adds a copy of the machine's disk, taken while it is off, as another machine.
func (m *machine) clone() *machine {
	m.Helper()
	c := m.image(m.name + "'")
	m.machines = append(m.machines, c)
	return c
}

// image is a copy of the machine's disk, taken while it is off.
func (m *machine) image(name string) *machine {
	m.Helper()
	on := m.share != nil
	m.crash(false)
	log := m.log.copied()
	c := &machine{fleet: m.fleet, name: name, dir: m.TempDir(), log: log, copies: m.copies.copied(log), store: m.connect()}
	if err := os.RemoveAll(c.dir); err != nil {
		m.Fatal(err)
	}
	if err := os.CopyFS(c.dir, os.DirFS(m.dir)); err != nil {
		m.Fatal(err)
	}
	for _, name := range []string{"device.key", "space"} {
		if err := os.Chmod(filepath.Join(c.dir, name), 0o600); err != nil {
			m.Fatal(err)
		}
	}
	if on {
		m.start()
	}
	return c
}

// restore puts the backup, if there is one, in the place of the machine's disk. It does nothing where a request to forget is on that disk
// alone.
func (m *machine) restore() {
	m.Helper()
	if m.backup == nil || m.share == nil || len(m.status().Forgets) > 0 {
		return
	}
	m.crash(false)
	m.log, m.copies, m.dir, m.named, m.backup = m.backup.log, m.backup.copies, m.backup.dir, events.LogID{}, nil
	m.start()
}

// work appends n prompts of a given size.
func (m *machine) work(n, size int) {
	for range n {
		m.texts++
		text := fmt.Sprintf("text%dtext %s", m.texts, strings.Repeat("x", size))
		stream := events.SessionIDOf("fleet", fmt.Sprint(m.name, m.texts%3)).Stream()
		m.log.append(stream, events.PromptSubmitted{Number: m.texts, Text: text})
	}
}

// forget asks, on this machine, to forget records that it knows, chosen by random.
func (m *machine) forget(random *rand.Rand) {
	m.Helper()
	if m.share == nil {
		return
	}
	records, _ := m.log.state()
	var known []events.Place
	ids := map[events.Place]events.ID{}
	for log, of := range m.copies.all() {
		for _, r := range of {
			known = append(known, events.Place{Log: log, Position: r.Position})
			ids[known[len(known)-1]] = r.ID
		}
	}
	for _, r := range records {
		known = append(known, events.Place{Position: r.Position})
		ids[known[len(known)-1]] = r.ID
	}
	if len(known) == 0 {
		return
	}
	slices.SortFunc(known, func(a, b events.Place) int {
		return cmp.Or(slices.Compare(a.Log[:], b.Log[:]), cmp.Compare(a.Position, b.Position))
	})
	var at []events.Place
	for range 1 + random.IntN(3) {
		at = append(at, known[random.IntN(len(known))])
	}
	for _, p := range at {
		m.erased[ids[p]] = true
	}
	if _, err := m.share.Forget(context.Background(), at...); err != nil {
		m.Fatal(err)
	}
}

// status is what the machine says.
func (m *machine) status() share.Status {
	m.Helper()
	st, err := m.share.Status(context.Background())
	if err != nil {
		m.Fatal(err)
	}
	return st
}

// settled says why the fleet is not at rest yet; "" if each machine has all that the others have.
func (f *fleet) settled() string {
	f.tend()
	for _, m := range f.machines {
		st := m.status()
		if st.Own.Records > 0 || st.Own.Forked > 0 {
			return fmt.Sprintf("%s has %d records to send: %v", m.name, st.Own.Records, st.Problems)
		}
		if len(st.Forgets) > 0 {
			return fmt.Sprintf("%s: not forgotten: %+v: %v", m.name, st.Forgets, st.Problems)
		}
		for _, other := range f.machines {
			if diff := m.misses(other); diff != "" {
				return diff + ": " + fmt.Sprint(st.Problems)
			}
		}
	}
	return ""
}

// misses says what the machine's copy of another's log has not, as far as the other sent it.
func (m *machine) misses(other *machine) string {
	id := other.id()
	want, _ := other.log.state()
	if own, _ := m.log.state(); id == m.id() && len(own) != len(want) {
		return fmt.Sprintf("%s and %s write one log still", m.name, other.name)
	}
	if id.IsZero() || id == m.id() {
		return ""
	}
	if got := m.copyOf(id); len(got) < len(want) {
		return fmt.Sprintf("%s has %d records of %s's %d", m.name, len(got), other.name, len(want))
	}
	return ""
}

// rest waits until the fleet is at rest.
func (f *fleet) rest(limit time.Duration) {
	f.Helper()
	why, quiet := "", 0 // a look sees one machine after another, so one is not enough
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Second) {
		if why = f.settled(); why != "" {
			quiet = 0
		} else if quiet++; quiet == 3 {
			return
		}
	}
	f.Errorf("not at rest after %v: %s", limit, why)
}

// check holds the fleet, which is at rest, to F1, F2 and F5.
func (f *fleet) check() {
	f.Helper()
	for _, broken := range f.ledger.broken {
		f.Error(broken)
	}
	for _, m := range f.machines {
		for _, id := range f.logs() {
			if id != m.id() {
				f.same(m, id)
			}
		}
		records, _ := m.log.state()
		f.gone(m.name+"'s log", records)
		has := map[events.ID]bool{}
		for _, r := range records {
			has[r.ID] = true
		}
		for _, of := range m.copies.all() {
			f.gone(m.name+"'s copy", of)
			for _, r := range of {
				has[r.ID] = true
			}
		}
		for _, other := range f.machines {
			records, _ := other.log.state()
			for _, r := range records {
				if !has[r.ID] {
					f.Errorf("%s has nothing of %s's record %d", m.name, other.name, r.Position)
				}
			}
		}
	}
	f.storeIsClean()
}

// logs are the ids of all logs that have a record.
func (f *fleet) logs() (ids []events.LogID) {
	for _, m := range f.machines {
		if id := m.id(); !id.IsZero() && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// same compares a copy with its log, as the home has it that sent the most of it (F2).
func (f *fleet) same(m *machine, id events.LogID) {
	f.Helper()
	var want []events.Record
	name := ""
	for _, owner := range f.machines {
		if st := owner.status(); owner.id() == id && (want == nil || int(st.Own.Shipped) > len(want)) {
			want, _ = owner.log.state()
			name, want = owner.name, want[:st.Own.Shipped]
		}
	}
	got := m.copyOf(id)
	if len(got) != len(want) {
		f.Errorf("%s has %d records of %s's %d", m.name, len(got), name, len(want))
		return
	}
	for i, r := range got {
		if r.Header != want[i].Header || r.Chain != want[i].Chain || r.Erased != want[i].Erased {
			f.Errorf("%s has another record %d of %s: %+v, erased %v; want %+v, erased %v", m.name, i+1, name,
				r.Header, r.Erased, want[i].Header, want[i].Erased)
		}
	}
}

// gone looks that records have no words of what was forgotten (F5).
func (f *fleet) gone(where string, records []events.Record) {
	f.Helper()
	for _, r := range records {
		if f.erased[r.ID] && !r.Erased {
			f.Errorf("%s has the words of record %d still", where, r.Position)
		}
	}
}

// storeIsClean opens all segments that are in the store.
func (f *fleet) storeIsClean() {
	f.Helper()
	codec := segment.NewCodec(f.codec)
	for key, body := range f.engine.Now() {
		if !strings.Contains(string(key), "/log/") || len(body) == 0 {
			continue
		}
		s, err := segment.Parse(body)
		if err != nil {
			continue // put there by the test
		}
		if s.Epoch == 0 || s.Epoch > f.machines[0].space.Manifest().Epoch {
			continue // damaged, as Open would say of a key that does not fit: no key was ever made for this number
		}
		epoch, err := f.machines[0].space.EpochKey(s.Epoch)
		if err != nil {
			f.Error(err)
			continue
		}
		records, err := codec.Open(s, epoch)
		if errors.Is(err, segment.ErrDamaged) {
			continue
		}
		f.gone(fmt.Sprint("the store, of ", s.Log), records)
	}
}

// off ends all machines.
func (f *fleet) off() {
	for _, m := range slices.Clone(f.machines) {
		m.crash(false)
	}
}
