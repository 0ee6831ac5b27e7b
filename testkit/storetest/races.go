package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

const (
	writers = 8  // connections that race
	rounds  = 10 // races a test
)

// race has each writer do one thing to key at once with the others, and returns who succeeded. All others must fail with lost.
func race(t *testing.T, machines []*machine, lost []error, do func(n int, m *machine) error) (won []int) {
	t.Helper()
	var wg sync.WaitGroup
	errs, start := make([]error, len(machines)), make(chan struct{})
	for n, m := range machines {
		wg.Go(func() {
			<-start
			errs[n] = do(n, m)
		})
	}
	close(start)
	wg.Wait()
	for n, err := range errs {
		isLost := false
		for _, l := range lost {
			isLost = isLost || errors.Is(err, l)
		}
		switch {
		case err == nil:
			won = append(won, n)
		case !isLost:
			t.Errorf("writer %d: %v", n, err)
		}
	}
	return won
}

func (w *world) openAll(t *testing.T) (all []*machine) {
	for range writers {
		all = append(all, w.open(t))
	}
	return all
}

func testCreateRaces(t *testing.T, w *world) {
	all := w.openAll(t)
	for round := range rounds {
		key, revs := store.Key(fmt.Sprintf("s/race/%d", round)), make([]store.Rev, writers)
		won := race(t, all, []error{store.ErrExists}, func(n int, m *machine) (err error) {
			revs[n], err = m.Create(w.ctx, key, []byte(strconv.Itoa(n)))
			return err
		})
		if len(won) != 1 {
			t.Fatalf("%d of %d writers created one object", len(won), writers)
		}
		for _, m := range all {
			m.wantBody(t, key, strconv.Itoa(won[0]), revs[won[0]])
		}
	}
}

func testReplaceRaces(t *testing.T, w *world) {
	all, key := w.openAll(t), store.Key("s/head")
	rev := all[0].mustCreate(t, key, "")
	for range rounds {
		revs := make([]store.Rev, writers)
		won := race(t, all, []error{store.ErrMoved}, func(n int, m *machine) (err error) {
			revs[n], err = m.Replace(w.ctx, key, rev, []byte(strconv.Itoa(n)))
			return err
		})
		if len(won) != 1 {
			t.Fatalf("%d of %d writers replaced one state", len(won), writers)
		}
		rev = revs[won[0]]
		for _, m := range all {
			m.wantBody(t, key, strconv.Itoa(won[0]), rev)
		}
	}
}

// testDeleteRaces has half of the writers delete one state and half replace it: one of all succeeds.
func testDeleteRaces(t *testing.T, w *world) {
	all := w.openAll(t)
	for round := range rounds {
		key := store.Key(fmt.Sprintf("s/race/%d", round))
		rev := all[0].mustCreate(t, key, "before")
		revs := make([]store.Rev, writers)
		won := race(t, all, []error{store.ErrMoved, store.ErrNotFound}, func(n int, m *machine) (err error) {
			if n%2 == 0 {
				return m.Delete(w.ctx, key, rev)
			}
			revs[n], err = m.Replace(w.ctx, key, rev, []byte(strconv.Itoa(n)))
			return err
		})
		if len(won) != 1 {
			t.Fatalf("writers %v ended one state", won)
		}
		for _, m := range all {
			if won[0]%2 == 0 {
				m.wantNone(t, key)
				continue
			}
			m.wantBody(t, key, strconv.Itoa(won[0]), revs[won[0]])
		}
	}
}

// testCounter: no addition to a number that all writers add to is lost, and each reads what it wrote.
func testCounter(t *testing.T, w *world) {
	const each = 5
	all, key := w.openAll(t), store.Key("s/counter")
	all[0].mustCreate(t, key, "0")
	var moved atomic.Int64
	won := race(t, all, nil, func(_ int, m *machine) error {
		for added := 0; added < each; {
			body, rev, err := m.Get(w.ctx, key)
			if err != nil {
				return err
			}
			was, err := strconv.Atoi(string(body))
			if err != nil {
				return err
			}
			_, err = m.Replace(w.ctx, key, rev, []byte(strconv.Itoa(was+1)))
			switch {
			case err == nil:
				added++
			case !errors.Is(err, store.ErrMoved):
				return err
			default:
				moved.Add(1)
			}
		}
		return nil
	})
	body, _, err := all[0].Get(w.ctx, key)
	if string(body) != strconv.Itoa(writers*each) || err != nil || len(won) != writers {
		t.Errorf("the counter is at %s (%v), want %d", body, err, writers*each)
	}
	t.Logf("%d additions met another", moved.Load())
}

// testReadYourWrite: what was answered to one is seen by the other at once, by Get and by List.
func testReadYourWrite(t *testing.T, w *world) {
	a, b := w.open(t), w.open(t)
	for n := range 4 * rounds {
		key := store.Key(fmt.Sprintf("s/%d/a", n))
		rev := a.mustCreate(t, key, "1")
		b.wantBody(t, key, "1", rev)
		b.wantListed(t, fmt.Sprintf("s/%d/", n), key)
		rev = b.mustReplace(t, key, rev, "2")
		a.wantBody(t, key, "2", rev)
		a.mustDelete(t, key, rev)
		b.wantNone(t, key)
		b.wantListed(t, fmt.Sprintf("s/%d/", n))
	}
}
