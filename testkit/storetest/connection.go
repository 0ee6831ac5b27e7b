package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// impatience bounds calls that cannot be answered.
const impatience = 300 * time.Millisecond

// hasty is m with little time for each call that follows.
func (m *machine) hasty(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(m.ctx, impatience)
	t.Cleanup(cancel)
	return ctx
}

// again calls do until it no longer says that it may pass: after a connection was cut it takes a moment until it is back.
func (m *machine) again(t testing.TB, do func(context.Context) error) error {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(m.ctx, time.Second)
		err := do(ctx)
		cancel()
		if !transient.Is(err) {
			return err
		}
		if m.ctx.Err() != nil {
			t.Fatalf("the connection never came back: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// testCut: while nothing goes through each call says that it may pass, and nothing is changed; then all goes on.
func testCut(t *testing.T, w *world) {
	far, near := w.faulty(t)
	rev := far.mustCreate(t, "s/a", "words")
	w.Fault(Cut)
	for name, err := range calls(far.hasty(t), far, rev) {
		wantPasses(t, name, err)
	}
	near.wantBody(t, "s/a", "words", rev)
	near.wantNone(t, "s/new")
	w.Fault(Healed)
	var next store.Rev
	err := far.again(t, func(ctx context.Context) (err error) {
		next, err = far.Replace(ctx, "s/a", rev, []byte("more"))
		return err
	})
	if err != nil {
		t.Fatalf("once it was healed: %v", err)
	}
	near.wantBody(t, "s/a", "more", next)
}

// testAnswersLost: what was done without an answer is done once, and Get tells it from what another did.
func testAnswersLost(t *testing.T, w *world) {
	far, near := w.faulty(t)
	rev, gone := far.mustCreate(t, "s/head", "1"), far.mustCreate(t, "s/gone", "")
	w.Fault(Unheard)
	made := near.eventually(t, "s/new", "mine", func() {
		_, err := far.Create(far.hasty(t), "s/new", []byte("mine"))
		wantPasses(t, "Create", err)
	})
	head := near.eventually(t, "s/head", "2", func() {
		_, err := far.Replace(far.hasty(t), "s/head", rev, []byte("2"))
		wantPasses(t, "Replace", err)
	})
	wantPasses(t, "Delete", far.Delete(far.hasty(t), "s/gone", gone))
	_, _, err := far.Get(far.hasty(t), "s/head")
	wantPasses(t, "Get", err)
	w.Fault(Healed)
	wantErr(t, "Create once more", far.again(t, func(ctx context.Context) error {
		_, err := far.Create(ctx, "s/new", []byte("mine"))
		return err
	}), store.ErrExists)
	wantErr(t, "Replace once more", far.again(t, func(ctx context.Context) error {
		_, err := far.Replace(ctx, "s/head", rev, []byte("2"))
		return err
	}), store.ErrMoved)
	// An engine that looks before it deletes did not get as far.
	err = far.again(t, func(ctx context.Context) error { return far.Delete(ctx, "s/gone", gone) })
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Delete once more: %v", err)
	}
	near.wantNone(t, "s/gone")
	far.wantBody(t, "s/new", "mine", made)
	far.wantBody(t, "s/head", "2", head)
}

// eventually does what should bring body to key until it is there, and returns its revision.
func (m *machine) eventually(t testing.TB, key store.Key, body string, do func()) store.Rev {
	t.Helper()
	for {
		do()
		got, rev, err := m.Get(m.ctx, key)
		if err == nil && string(got) == body {
			return rev
		}
		if m.ctx.Err() != nil {
			t.Fatalf("%s never became %q: %q, %v", key, body, got, err)
		}
	}
}

func testClose(t *testing.T, w *world) {
	m, other := w.open(t), w.open(t)
	rev := m.mustCreate(t, "s/a", "words")
	watch := m.watch(t, "s/")
	watch.wait(t, m, store.Entry{Key: "s/a", Rev: rev})
	for range 2 {
		if err := m.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	for name, err := range calls(w.ctx, m, rev) {
		wantErr(t, name, err, store.ErrClosed)
	}
	select {
	case err := <-watch.end:
		wantErr(t, "a watch", err, store.ErrClosed)
	case <-w.ctx.Done():
		t.Error("a watch goes on")
	}
	for _, err := range m.Watch(w.ctx, "s/") {
		wantErr(t, "a watch that begins", err, store.ErrClosed)
	}
	other.wantBody(t, "s/a", "words", rev)
	other.wantNone(t, "s/new")
}

// testCloseBusy closes a store while calls are under way: what they answered holds, and they end.
func testCloseBusy(t *testing.T, w *world) {
	m, other := w.open(t), w.open(t)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards made
	made := map[store.Key]store.Rev{}
	var began atomic.Int64
	for n := range writers {
		wg.Go(func() {
			for i := 0; ; i++ {
				key := store.Key(fmt.Sprintf("s/busy/%d-%d", n, i))
				rev, err := m.Create(w.ctx, key, []byte(key))
				if err != nil {
					if !errors.Is(err, store.ErrClosed) && !transient.Is(err) {
						t.Errorf("a call that was under way: %v", err)
					}
					return
				}
				began.Add(1)
				mu.Lock()
				made[key] = rev
				mu.Unlock()
			}
		})
	}
	for began.Load() < writers && w.ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wg.Wait()
	for key, rev := range made {
		other.wantBody(t, key, string(key), rev)
	}
}

// testContext: a call whose time is over, before it or in it, says so and may be tried again.
func testContext(t *testing.T, w *world) {
	m := w.open(t)
	rev := m.mustCreate(t, "s/a", "words")
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	for name, err := range calls(ctx, m, rev) {
		wantPasses(t, name, err)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for e, err := range m.Watch(ctx, "s/") {
		t.Errorf("a watch that is over before it began yielded %v, %v", e, err)
	}
	m.wantBody(t, "s/a", "words", rev)
	m.wantNone(t, "s/new")
}

// calls has each method but Watch called: on s/new, and on s/a, which is at rev.
func calls(ctx context.Context, m *machine, rev store.Rev) map[string]error {
	errs := map[string]error{}
	_, errs["Create"] = m.Create(ctx, "s/new", nil)
	_, errs["Replace"] = m.Replace(ctx, "s/a", rev, nil)
	_, _, errs["Get"] = m.Get(ctx, "s/a")
	_, errs["List"] = m.List(ctx, "s/", "", 0)
	errs["Delete"] = m.Delete(ctx, "s/a", rev)
	return errs
}
