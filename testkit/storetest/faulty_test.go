package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// TestFaults: each fault shows at its chance, and leaves the engine as it should.
func TestFaults(t *testing.T) {
	t.Parallel()
	const calls = 400
	for name, tc := range map[string]struct {
		faults        storetest.Faults
		failed, wrong float64 // of the reads of one object
		done          float64 // of the creations
	}{
		"none":   {storetest.Faults{}, 0, 0, 1},
		"cut":    {storetest.Faults{Cut: true}, 1, 0, 0},
		"refuse": {storetest.Faults{Refuse: 0.25}, 0.25, 0, 0.75},
		"lose":   {storetest.Faults{Lose: 0.25}, 0.25, 0, 1},
		"stale":  {storetest.Faults{Stale: 0.5}, 0, 0.5 * 2 / 3, 1}, // of three answers one is the newest
		"flip":   {storetest.Faults{Flip: 0.25}, 0, 0.25, 1},
	} {
		memory := storetest.NewMemory()
		good, bad := memory.Connect(nil), memory.Connect(rand.New(rand.NewPCG(7, 7)))
		rev := must[store.Rev](t)(good.Create(t.Context(), "s/head", []byte("old")))
		must[store.Rev](t)(good.Replace(t.Context(), "s/head", rev, []byte("new")))
		bad.Set(tc.faults)
		failed, wrong := 0., 0.
		for n := range calls {
			body, _, err := bad.Get(t.Context(), "s/head")
			switch {
			case errors.Is(err, storetest.ErrFault):
				failed++
			case string(body) != "new":
				wrong++
			}
			_, _ = bad.Create(t.Context(), store.Key(fmt.Sprintf("s/n/%d", n)), nil)
		}
		done, err := good.List(t.Context(), "s/n/", "", calls+1)
		for what, pair := range map[string][2]float64{
			"failed": {failed / calls, tc.failed}, "wrong": {wrong / calls, tc.wrong}, "done": {float64(len(done)) / calls, tc.done},
		} {
			if err != nil || pair[0] < pair[1]-0.08 || pair[0] > pair[1]+0.08 {
				t.Errorf("%s: of the calls %.2f %s (%v), want %.2f", name, pair[0], what, err, pair[1])
			}
		}
	}
}

// TestFaultyTime: delays pass by the bubble's clock, a watch waits while it is cut, and neither outlives its context.
func TestFaultyTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory, began := storetest.NewMemory(), time.Now()
		near, far := memory.Connect(nil), memory.Connect(nil)
		far.Set(storetest.Faults{Delay: time.Hour, Cut: true})
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		told := make(chan store.Entry)
		go func() {
			defer close(told)
			for e, err := range far.Watch(ctx, "s/") {
				if err != nil {
					t.Errorf("watch: %v", err)
				}
				told <- e
			}
		}()
		rev := must[store.Rev](t)(near.Create(ctx, "s/a", nil))
		synctest.Wait()
		select {
		case e := <-told:
			t.Errorf("told of %v through a connection that is cut", e)
		default:
		}
		far.Set(storetest.Faults{Delay: time.Hour})
		if e := <-told; e != (store.Entry{Key: "s/a", Rev: rev}) {
			t.Errorf("told of %v", e)
		}
		if took := time.Since(began); took <= 0 || took > time.Hour {
			t.Errorf("told after %v", took)
		}
		short, end := context.WithTimeout(ctx, time.Millisecond)
		defer end()
		if _, _, err := far.Get(short, "s/a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that is delayed beyond its time: %v", err)
		}
		if _, open := <-told; open || time.Since(began) != 24*time.Hour {
			t.Errorf("the watch ended after %v", time.Since(began))
		}
	})
}

// TestMemoryLies: what was here can be searched, lost, changed and brought back behind everybody's back.
func TestMemoryLies(t *testing.T) {
	t.Parallel()
	memory := storetest.NewMemory()
	s := memory.Connect(nil)
	first := must[store.Rev](t)(s.Create(t.Context(), "s/a", []byte("one")))
	then := memory.Snapshot()
	rev := must[store.Rev](t)(s.Replace(t.Context(), "s/a", first, []byte("two")))
	must[store.Rev](t)(s.Create(t.Context(), "s/b", []byte("three")))
	memory.Tamper("s/c", []byte("planted"))
	if !memory.Forget("s/b") || memory.Forget("s/b") {
		t.Error("what is there is lost once")
	}
	memory.Tamper("s/a", []byte("four"))
	if _, err := s.Replace(t.Context(), "s/a", rev, nil); !errors.Is(err, store.ErrMoved) {
		t.Errorf("Replace of what was changed: %v", err)
	}
	want := map[store.Key]string{"s/a": "one two four ", "s/b": "three ", "s/c": "planted "}
	if diff := cmp.Diff(want, joined(memory.Ever())); diff != "" {
		t.Errorf("ever (-want +got):\n%s", diff)
	}
	memory.Restore(then)
	if diff := cmp.Diff(map[store.Key]string{"s/a": "one "}, joined(memory.Now())); diff != "" {
		t.Errorf("now (-want +got):\n%s", diff)
	}
	if body, at, err := s.Get(t.Context(), "s/a"); string(body) != "one" || at != first || err != nil {
		t.Errorf("restored: %q at %q, %v", body, at, err)
	}
	far := memory.Connect(nil)
	far.Set(storetest.Faults{Hide: 1})
	if all, err := far.List(t.Context(), "s/", "", 0); len(all) != 0 || err != nil {
		t.Errorf("hidden, and listed: %v, %v", all, err)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// joined has the bodies of each key, in their order.
func joined(all iter.Seq2[store.Key, []byte]) map[store.Key]string {
	out := map[store.Key]string{}
	for key, body := range all {
		out[key] += string(body) + " "
	}
	return out
}
