package fleet

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// TestBadSegments: whatever a store makes of a segment is named in words by who reads it, whose own memory, and what comes from others, is
// whole; and the owner puts right what can be put right, once it is on.
func TestBadSegments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(f *fleet, bodies [][]byte) []byte // of the first of two
		says  string
	}{
		"a bit flipped": {spoil: func(_ *fleet, b [][]byte) []byte {
			bad := bytes.Clone(b[0])
			bad[len(bad)/2] ^= 4
			return bad
		}, says: "damaged"},
		"cut":       {spoil: func(_ *fleet, b [][]byte) []byte { return b[0][:len(b[0])/2] }, says: "damaged"},
		"all gone":  {spoil: func(*fleet, [][]byte) []byte { return nil }, says: "missing in the store"},
		"reordered": {spoil: func(_ *fleet, b [][]byte) []byte { return b[1] }, says: "in the place of another"},
		"signed by a stranger": {spoil: func(f *fleet, _ [][]byte) []byte {
			return strangersSegment(f)
		}, says: "in the place of another"},
		"signed by nobody": {spoil: func(_ *fleet, b [][]byte) []byte {
			bad := bytes.Clone(b[0])
			bad[80] ^= 1 // of when it was sealed, which is signed
			return bad
		}, says: "not signed by"},
		"of a newer format": {spoil: func(_ *fleet, b [][]byte) []byte {
			bad := bytes.Clone(b[0])
			bad[4]++
			return bad
		}, says: "made by a newer cmemd; upgrade this machine's"},
		"of an epoch that nobody began": {spoil: func(_ *fleet, b [][]byte) []byte {
			for i := range b[0] {
				bad := bytes.Clone(b[0])
				bad[i] ^= 128
				if sealed, err := segment.Parse(bad); err == nil && sealed.Epoch >= 128 {
					return bad
				}
			}
			return nil
		}, says: "and the space began 1"},
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, 3, func(f *fleet) { f.badSegment(c.spoil, c.says) })
		})
	}
}

func (f *fleet) badSegment(spoil func(f *fleet, bodies [][]byte) []byte, says string) {
	a, b, c := f.machines[0], f.machines[1], f.machines[2]
	b.crash(false)
	a.work(3, 50)
	time.Sleep(10 * time.Second)
	a.work(3, 50)
	time.Sleep(10 * time.Second)
	keys, bodies := f.segmentsOf(a)
	if len(keys) != 2 {
		f.Fatalf("there are %d segments, want 2", len(keys))
	}
	a.crash(false)
	f.engine.Tamper(keys[0], spoil(f, bodies))
	b.work(4, 50)
	c.work(5, 50)
	b.start()
	time.Sleep(2 * time.Minute)
	st := b.status()
	if !strings.Contains(fmt.Sprint(st.Problems), says) || !strings.Contains(fmt.Sprint(st.Machines[0].Logs), says) {
		f.Errorf("of a segment that is bad is said: %v", st.Problems)
	}
	if len(b.copyOf(a.id())) != 0 || len(b.copyOf(c.id())) != 5 || len(c.copyOf(b.id())) != 4 || st.Own.Records > 0 {
		f.Errorf("others' records: %d, %d, %d; %+v", len(b.copyOf(a.id())), len(b.copyOf(c.id())), len(c.copyOf(b.id())), st.Own)
	}
	a.start()
	f.rest(20 * time.Minute)
	f.check()
	if p := b.status().Problems; len(p) > 0 {
		f.Errorf("problems are left: %v", p)
	}
}

// segmentsOf are the segments of a machine's log, in order.
func (f *fleet) segmentsOf(m *machine) (keys []store.Key, bodies [][]byte) {
	f.Helper()
	prefix := fmt.Sprintf("%s/log/%s/", m.space.ID(), m.id())
	for key, body := range f.engine.Now() {
		if strings.HasPrefix(string(key), prefix) && len(body) > 0 {
			keys, bodies = append(keys, key), append(bodies, body)
		}
	}
	return keys, bodies
}

// strangersSegment is one of another space, of the same store.
func strangersSegment(f *fleet) []byte {
	f.Helper()
	other := newFleet(f.TB, 1, 99)
	defer other.off()
	m := other.machines[0]
	m.work(3, 50)
	m.start()
	other.rest(time.Minute)
	_, bodies := other.segmentsOf(m)
	return bodies[0]
}

// TestTwoStores: two stores have one space, as after a hub was copied. Each machine has what its store has; back at one store they have all.
// Where both changed the list of machines meanwhile, that is told, with what to do; the own memory is whole.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	for name, changed := range map[string]bool{"the list as it was": false, "both changed the list": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 2, 1)
				defer f.off()
				a, b := f.machines[0], f.machines[1]
				a.start()
				b.start()
				a.work(3, 10)
				f.rest(time.Minute)
				b.crash(false)
				other, first := storetest.NewMemory(), b.store
				other.Restore(f.engine.Snapshot())
				b.store = other.Connect(nil)
				b.start()
				a.work(3, 10)
				b.work(4, 10)
				time.Sleep(10 * time.Minute)
				if len(b.copyOf(a.id())) != 3 || len(a.copyOf(b.id())) != 0 || b.status().Own.Records > 0 {
					t.Errorf("apart they have %d and %d records of each other", len(b.copyOf(a.id())), len(a.copyOf(b.id())))
				}
				if changed {
					for _, m := range f.machines {
						if _, err := m.space.Invite(t.Context(), m.name+" invites", "", time.Now()); err != nil {
							t.Fatal(err)
						}
					}
				}
				b.crash(false)
				b.store = first
				b.start()
				if !changed {
					f.rest(20 * time.Minute)
					f.check()
					return
				}
				time.Sleep(10 * time.Minute)
				if said := fmt.Sprint(b.status().Problems); !strings.Contains(said, "is not the one that this machine knows; enter the space again") {
					t.Errorf("of two lists is said: %s", said)
				}
				if records, _ := b.log.state(); len(records) != 4 {
					t.Errorf("of its own records it has %d", len(records))
				}
			})
		})
	}
}

// TestFullDiskHere: where there is no room for copies that is told, the own log goes out as ever, what was forgotten elsewhere is forgotten,
// and once there is room all is there.
func TestFullDiskHere(t *testing.T) {
	inFleet(t, 2, func(f *fleet) {
		a, b := f.machines[0], f.machines[1]
		a.work(3, 10)
		f.rest(time.Minute)
		b.copies.fill(true)
		a.work(3, 10)
		b.work(4, 10)
		f.erased[a.record(2)] = true
		if _, err := a.share.Forget(t.Context(), a.place(2)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		st := b.status()
		if !strings.Contains(fmt.Sprint(st.Problems), eventlog.ErrDiskFull.Error()) || st.Own.Records > 0 || len(a.copyOf(b.id())) != 4 {
			t.Errorf("while the disk is full: %v, %d to send, the other has %d", st.Problems, st.Own.Records, len(a.copyOf(b.id())))
		}
		f.gone(b.name, b.copyOf(a.id()))
		b.copies.fill(false)
		f.rest(5 * time.Minute)
		f.check()
		if p := b.status().Problems; len(p) > 0 {
			t.Errorf("problems are left: %v", p)
		}
	})
}

// fullStore is a store that has no room, while full.
type fullStore struct {
	store.Store
	full atomic.Bool
}

func (s *fullStore) Create(ctx context.Context, key store.Key, body []byte) (store.Rev, error) {
	if s.full.Load() {
		return "", store.ErrFull
	}
	return s.Store.Create(ctx, key, body)
}

func (s *fullStore) Replace(ctx context.Context, key store.Key, rev store.Rev, body []byte) (store.Rev, error) {
	if s.full.Load() {
		return "", store.ErrFull
	}
	return s.Store.Replace(ctx, key, rev, body)
}

// TestFullDiskThere: a store without room is told of, the own log takes what is recorded, others' is read, and all goes out once there is room.
func TestFullDiskThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := storetest.NewMemory()
		full := &fullStore{Store: engine.Connect(nil)}
		a := newHome(t, full, "a", nil)
		b := newHome(t, engine.Connect(nil), "b", a)
		a.start()
		defer a.stop()
		b.start()
		defer b.stop()
		time.Sleep(time.Minute)
		full.full.Store(true)
		a.work(5, 10)
		b.work(5, 10)
		time.Sleep(5 * time.Minute)
		st := must(a.share.Status(t.Context()))
		if !strings.Contains(fmt.Sprint(st.Problems), store.ErrFull.Error()) || st.Own.Records != 5 || a.last() != 12 || b.last() != 7 {
			t.Errorf("while the store is full: %v, %d to send; here are %d records, there %d", st.Problems, st.Own.Records, a.last(), b.last())
		}
		full.full.Store(false)
		time.Sleep(5 * time.Minute)
		if st = must(a.share.Status(t.Context())); len(st.Problems) > 0 || st.Own.Records > 0 || b.last() != 12 {
			t.Errorf("with room: %v, %d to send; there are %d records", st.Problems, st.Own.Records, b.last())
		}
	})
}
