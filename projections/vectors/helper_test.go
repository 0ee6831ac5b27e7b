package vectors

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// hashed embeds a text deterministically: the sum of a random vector for each of its words, so that texts that share words
// are near to each other.
func hashed(text string, dims int) []float32 {
	out := make([]float32, dims)
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New64a()
		h.Write([]byte(w))
		rng := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range out {
			out[i] += float32(rng.NormFloat64())
		}
	}
	return out
}

// fake is an endpoint in the process.
type fake struct {
	mu    sync.Mutex
	dims  int
	asked [][]string                                                            // every request
	trick func(ctx context.Context, texts []string) (vs [][]float32, err error) // in the place of an answer; both nil: answer
}

func (f *fake) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	f.mu.Lock()
	f.asked = append(f.asked, texts)
	trick, dims := f.trick, f.dims
	f.mu.Unlock()
	if trick != nil {
		if vs, err := trick(ctx, texts); vs != nil || err != nil {
			return vs, err
		}
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = hashed(t, dims)
	}
	return out, nil
}

func (f *fake) set(trick func(context.Context, []string) ([][]float32, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trick = trick
}

// texts is how many were sent, probes left out.
func (f *fake) texts() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, list := range f.asked {
		n += len(list)
	}
	return n
}

// largest is the most texts of a request.
func (f *fake) largest() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, list := range f.asked {
		n = max(n, len(list))
	}
	return n
}

// world is a log with views over it, an endpoint, and vectors.
type world struct {
	tb    testing.TB
	log   *eventlog.Bolt
	views *projections.Views
	fake  *fake
	path  string
	conf  Config
	at    time.Time
	texts map[events.ID]string
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{
		tb: tb, log: logtest.Open(tb, eventlog.Config{}), fake: &fake{dims: 32}, path: tb.TempDir() + "/vectors",
		at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), texts: map[events.ID]string{},
	}
	tb.Cleanup(func() { w.log.Close() })
	var err error
	if w.views, err = projections.Open(tb.TempDir(), w.log, engine.Config{}); err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.views.Run(ctx); err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(func() { stop(); running.Wait(); w.views.Close() })
	w.conf = Config{
		Embedder: w.fake, Model: "fake-1", Rows: w.views, Rest: time.Millisecond, Batch: 8, Floor: -1,
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") },
	}
	return w
}

func (w *world) put(stream events.StreamID, e events.Event) events.Record {
	w.tb.Helper()
	w.at = w.at.Add(time.Minute)
	d := events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: w.at, Event: e}
	records, err := eventlog.AppendEnd(context.Background(), w.log, stream, d)
	if err != nil {
		w.tb.Fatal(err)
	}
	return records[0]
}

// save adds a memory and returns its id.
func (w *world) save(text string) events.ID {
	id := uuid.Must(uuid.NewV7())
	w.put(events.Daemon, events.MemorySaved{Memory: id, Text: text, At: w.at})
	w.texts[id] = text
	return id
}

func (w *world) fill(n int) (ids []events.ID) {
	for i := range n {
		ids = append(ids, w.save(fmt.Sprintf("word%d other%d thing%d", i, i, i%7)))
	}
	return ids
}

// running is vectors that are filled meanwhile.
type running struct {
	*Vectors
	tb   testing.TB
	stop context.CancelFunc
	done chan error
}

func (w *world) open() *Vectors {
	w.tb.Helper()
	v, err := Open(context.Background(), w.path, w.log, w.conf)
	if err != nil {
		w.tb.Fatal(err)
	}
	return v
}

func (w *world) run() *running {
	w.tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Vectors: w.open(), tb: w.tb, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- r.Run(ctx) }()
	w.tb.Cleanup(r.end)
	return r
}

// end stops Run and closes; it may be called again.
func (r *running) end() {
	r.stop()
	select {
	case err := <-r.done:
		if err != nil {
			r.tb.Error(err)
		}
		r.done <- nil
	case <-time.After(time.Minute):
		r.tb.Fatal("Run does not end")
	}
	if err := r.Close(); err != nil {
		r.tb.Error(err)
	}
}

// until waits until the figures are as wanted.
func (r *running) until(what string, ok func(Stats) bool) Stats {
	r.tb.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		st := r.Stats()
		if ok(st) {
			return st
		}
		if time.Now().After(end) {
			r.tb.Fatalf("not %s: %+v", what, st)
		}
	}
}

func (r *running) filled(n int) Stats {
	r.tb.Helper()
	return r.until(fmt.Sprint(n, " filled"), func(st Stats) bool { return st.Filled == n && st.Total == n })
}

// holds reports what is wrong with the vectors of the rows with these ids: they must be those of their texts.
func (w *world) holds(v *Vectors, ids []events.ID) {
	w.tb.Helper()
	rows := rowsIn(w.tb, v.store)
	for _, id := range ids {
		i := slices.IndexFunc(rows, func(r row) bool { return r.id == id })
		if i < 0 {
			w.tb.Errorf("%s (%s) has no vector", id, w.texts[id])
			continue
		}
		want := hashed(w.conf.Redact(w.texts[id]), len(rows[i].vector))
		unit(want)
		if math.Abs(float64(dot(rows[i].vector, want))-1) > 1e-5 {
			w.tb.Errorf("the vector of %q is not its own", w.texts[id])
		}
	}
}
