package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/cmemd/cmemd/eventlog/share/store"
)

// watcher collects what a watch yields.
type watcher struct {
	changes chan store.Entry
	end     chan error // one value: what the watch ended with
	stop    context.CancelFunc
}

// watch begins a watch, which ends with the test.
func (m *machine) watch(t testing.TB, prefix string) *watcher {
	ctx, stop := context.WithCancel(m.ctx)
	w := &watcher{changes: make(chan store.Entry, 10_000), end: make(chan error, 1), stop: stop}
	var wg sync.WaitGroup
	wg.Go(func() {
		var last error
		for e, err := range m.Watch(ctx, prefix) {
			if last = err; err == nil {
				w.changes <- e
			}
		}
		w.end <- last
	})
	t.Cleanup(func() {
		stop()
		wg.Wait()
	})
	return w
}

// wait returns when the watch has yielded all of want, in any order; what else it yields is not minded.
func (w *watcher) wait(t testing.TB, m *machine, want ...store.Entry) {
	t.Helper()
	missing := map[store.Entry]bool{}
	for _, e := range want {
		missing[e] = true
	}
	for len(missing) > 0 {
		select {
		case e := <-w.changes:
			delete(missing, e)
		case err := <-w.end:
			t.Fatalf("the watch ended: %v", err)
		case <-m.ctx.Done():
			t.Fatalf("the watch never yielded %d changes, such as %v", len(missing), want[len(want)-1])
		}
	}
}

func testWatch(t *testing.T, w *world) {
	a, b := w.open(t), w.open(t)
	one := a.mustCreate(t, "s/head/1", "")
	a.mustCreate(t, "s/header", "")
	watch := b.watch(t, "s/head/")
	watch.wait(t, b, store.Entry{Key: "s/head/1", Rev: one})
	two := a.mustCreate(t, "s/head/2", "")
	watch.wait(t, b, store.Entry{Key: "s/head/2", Rev: two})
	a.mustCreate(t, "s/head2/2", "")
	one = b.mustReplace(t, "s/head/1", one, "again")
	watch.wait(t, b, store.Entry{Key: "s/head/1", Rev: one})
	a.mustDelete(t, "s/head/2", two)
	two = a.mustCreate(t, "s/head/2", "again")
	watch.wait(t, b, store.Entry{Key: "s/head/2", Rev: two})
	watch.stop()
	if err := <-watch.end; err != nil {
		t.Errorf("a watch that was ended: %v", err)
	}
	for e, err := range b.Watch(w.ctx, "s/") { // of one who goes away after the first
		if err != nil || e.Rev == "" {
			t.Errorf("yielded %v, %v", e, err)
		}
		break
	}
	later := b.watch(t, "other/") // of a space that nobody made yet
	rev := a.mustCreate(t, "other/1", "")
	later.wait(t, b, store.Entry{Key: "other/1", Rev: rev})
}

// testWatchMany has half of the objects made before the watch and half while it runs, by several writers.
func testWatchMany(t *testing.T, w *world) {
	const each = 20
	m, all := w.open(t), w.openAll(t)
	var want []store.Entry
	var mu sync.Mutex // guards want
	put := func(half string) func(n int, m *machine) error {
		return func(n int, m *machine) error {
			for i := range each {
				key := store.Key(fmt.Sprintf("s/many/%s/%d-%d", half, n, i))
				rev, err := m.Create(w.ctx, key, nil)
				if err != nil {
					return err
				}
				if _, err = m.Create(w.ctx, "s/others/"+key, nil); err != nil {
					return err
				}
				mu.Lock()
				want = append(want, store.Entry{Key: key, Rev: rev})
				mu.Unlock()
			}
			return nil
		}
	}
	race(t, all, nil, put("before"))
	watch := m.watch(t, "s/many/")
	race(t, all, nil, put("while"))
	watch.wait(t, m, want...)
	for len(watch.changes) > 0 {
		if e := <-watch.changes; e.Key.Space() != "s" || len(e.Key) < 7 || e.Key[:7] != "s/many/" {
			t.Errorf("yielded %v, which has another prefix", e)
		}
	}
}

// testWatchCut: what changed while the connection was cut is yielded when it is back.
func testWatchCut(t *testing.T, w *world) {
	far, near := w.faulty(t)
	one := near.mustCreate(t, "s/head/1", "")
	watch := far.watch(t, "s/head/")
	watch.wait(t, far, store.Entry{Key: "s/head/1", Rev: one})
	for round := range 3 {
		w.Fault(Cut)
		one = near.mustReplace(t, "s/head/1", one, fmt.Sprint(round))
		key := store.Key(fmt.Sprintf("s/head/new-%d", round))
		rev := near.mustCreate(t, key, "")
		w.Fault(Healed)
		watch.wait(t, far, store.Entry{Key: "s/head/1", Rev: one}, store.Entry{Key: key, Rev: rev})
	}
}
