package vectors

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cmemd/cmemd/events"
)

// TestRebuild: every row is asked for again, and none is lost; what was forgotten stays so.
func TestRebuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fill(20)
	w.put(events.Daemon, events.MemoryForgotten{IDs: ids[:3]})
	v := w.run()
	v.filled(17)
	w.fake.mu.Lock()
	w.fake.dims = 48 // it is another model by now, under its old name
	w.fake.mu.Unlock()
	asked := w.fake.texts()
	done, total := 0, 0
	if err := v.Rebuild(t.Context(), func(d, n int) { done, total = d, n }); err != nil {
		t.Fatal(err)
	}
	if st := v.Stats(); st.Filled != 17 || st.Total != 17 || st.Dimensions != 48 || done != 17 || total != 17 || w.fake.texts()-asked < 17 {
		t.Errorf("got %+v, told %d of %d, asked for %d texts", st, done, total, w.fake.texts()-asked)
	}
	w.holds(v.Vectors, ids[3:])
	late := w.save("after all that")
	v.filled(18)
	w.holds(v.Vectors, []events.ID{late})
}

// TestRebuildHindered: it ends where it cannot go on, and what is missing is filled later.
func TestRebuildHindered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(5)
	v := w.open()
	if err := v.Rebuild(t.Context(), nil); !errors.Is(err, ErrNotRunning) || w.fake.texts() != 0 {
		t.Errorf("without Run: %v, and the endpoint was asked %d times", err, w.fake.texts())
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	r := w.run()
	r.filled(5)
	w.fake.set(func(context.Context, []string) ([][]float32, error) { return nil, &Failure{Says: "503"} })
	var f *Failure
	if err := r.Rebuild(t.Context(), func(int, int) {}); !errors.As(err, &f) || err.Error() != "vectors: 503" {
		t.Errorf("an endpoint that is down: %v", err)
	}
	if st := r.Stats(); st.Filled != 5 || st.Paused != "" {
		t.Errorf("nothing is lost by that: %+v", st)
	}
	w.fake.set(func(_ context.Context, texts []string) ([][]float32, error) {
		if texts[0] == probe {
			return nil, nil
		}
		return nil, &Failure{Says: "401"}
	})
	if err := r.Rebuild(t.Context(), func(int, int) {}); !errors.Is(err, ErrPaused) || !strings.Contains(err.Error(), "401; asked again in") {
		t.Errorf("an endpoint that fails later: %v", err)
	}
	if st := r.Stats(); st.Filled != 0 || st.Total != 5 {
		t.Errorf("meanwhile: %+v", st)
	}
	w.fake.set(nil)
	if err := r.Rebuild(t.Context(), func(int, int) {}); err != nil {
		t.Errorf("once it answers: %v", err)
	}
	r.filled(5)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := r.Rebuild(gone, func(int, int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever wants it is gone: %v", err)
	}
}

// TestRebuildSilent: an endpoint that says nothing leaves all as it is.
func TestRebuildSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(2)
		v := w.run()
		v.filled(2)
		w.fake.set(func(ctx context.Context, _ []string) ([][]float32, error) { <-ctx.Done(); return nil, ctx.Err() })
		if err := v.Rebuild(t.Context(), nil); err == nil || err.Error() != "vectors: no answer within 1m0s" {
			t.Errorf("got %v", err)
		}
		if st := v.Stats(); st.Filled != 2 {
			t.Errorf("got %+v", st)
		}
	})
}
