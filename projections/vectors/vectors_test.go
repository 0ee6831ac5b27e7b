package vectors

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// TestFillAndFind: every kind of memory gets its vector, in requests of a bounded size, and is found by it; what has no words
// or is private is not asked for; what is stored at a later time comes too.
func TestFillAndFind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fill(30)
	s := events.SessionIDOf("claude-code", "a")
	w.put(s.Stream(), events.SessionOpened{Agent: "claude-code", AgentSession: "a", Project: "shop", ProjectRoot: "/src/shop"})
	prompt := w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "why is the cart empty"}).ID
	w.put(s.Stream(), events.PromptSubmitted{Number: 2, Text: "", Private: true})
	seen, sum := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	w.put(s.Stream(), events.ObservationParsed{Observation: seen, Type: "change", Title: "checkout total", Facts: []string{"rounds down"}})
	w.put(s.Stream(), events.SummaryParsed{Summary: sum, Request: "fix rounding", Learned: "cents matter"})
	w.texts[prompt], w.texts[seen], w.texts[sum] = "why is the cart empty", "checkout total\nrounds down", "fix rounding\ncents matter"
	v := w.run()
	st := v.filled(33)
	if w.fake.largest() > 8 || w.fake.texts() != 33 || st.Dimensions != 32 {
		t.Errorf("%d texts, at most %d a request, %+v; want 33, 8", w.fake.texts(), w.fake.largest(), st)
	}
	w.holds(v.Vectors, append(ids, prompt, seen, sum))
	late := w.save("a zebra crosses")
	v.filled(34)
	for text, want := range map[string]events.ID{"zebra": late, "rounding cents": sum, "cart": prompt, "word12 other12": ids[12]} {
		got := v.Nearest(t.Context(), text, nil, 3)
		if len(got.Hits) != 3 || got.Hits[0].ID != want || !got.Used || got.Note != "" {
			t.Errorf("%q: got %+v, want %s (%s) first", text, got, want, w.texts[want])
		}
	}
	if got := v.Nearest(t.Context(), "zebra", []events.Position{0, 31, 34, 35}, 5); len(got.Hits) != 2 || got.Hits[0].ID == late || got.Hits[1].ID == late {
		t.Errorf("of two rows alone: got %+v", got)
	}
}

// TestResume: after a stop only what is missing is asked for, and the rows are the same that a rebuild makes.
func TestResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fill(20)
	v := w.run()
	v.filled(20)
	v.end()
	ids = append(ids, w.fill(5)...)
	v = w.run()
	v.filled(25)
	if w.fake.texts() != 25 {
		t.Errorf("%d texts were sent, want 25", w.fake.texts())
	}
	kept := rowsIn(t, v.store)
	v.end()
	if err := Remove(w.path); err != nil {
		t.Fatal(err)
	}
	v = w.run()
	v.filled(25)
	w.holds(v.Vectors, ids)
	if diff := cmp.Diff(kept, rowsIn(t, v.store), cmp.AllowUnexported(row{}, rowRef{})); diff != "" {
		t.Errorf("made anew its rows differ (-kept +made):\n%s", diff)
	}
}

// TestModelAndLog: another model, or another log, begins the file anew.
func TestModelAndLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fill(6)
	v := w.run()
	v.filled(6)
	v.end()
	w.conf.Model, w.fake.dims = "fake-2", 16
	v = w.run()
	if st := v.filled(6); st.Model != "fake-2" || st.Dimensions != 16 || w.fake.texts() != 12 {
		t.Errorf("got %+v after %d texts, want 16 dimensions after 12", st, w.fake.texts())
	}
	w.holds(v.Vectors, ids)
	v.end()
	other := newWorld(t)
	other.path = w.path
	other.conf.Model = "fake-2"
	other.fill(7)
	if st := other.open(); st.Stats().Filled != 0 {
		t.Errorf("rows of another log are kept: %+v", st.Stats())
	}
}

// TestSizeChanges: an endpoint whose vectors change their size has the file made anew once, and is then held to be broken.
func TestSizeChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.conf.Pause = policy.Backoff{First: time.Hour, Cap: time.Hour}
	ids := w.fill(10)
	v := w.run()
	v.filled(10)
	w.fake.mu.Lock()
	w.fake.dims = 48
	w.fake.mu.Unlock()
	ids = append(ids, w.save("one more"))
	v.until("made anew", func(st Stats) bool { return st.Filled == 11 && st.Dimensions == 48 })
	w.holds(v.Vectors, ids)
	w.fake.mu.Lock()
	w.fake.dims = 32
	w.fake.mu.Unlock()
	if got := v.Nearest(t.Context(), "not asked before", nil, 3); got.Used || !strings.Contains(got.Note, "dimensions") {
		t.Errorf("a question of another size: got %+v", got)
	}
	w.save("yet one more")
	st := v.until("paused", func(st Stats) bool { return st.Paused != "" })
	if st.Filled != 11 || st.Total != 12 || !strings.Contains(st.Paused, "32 dimensions, and had 48") {
		t.Errorf("got %+v, want 11 of 12 kept", st)
	}
}

// TestBadAnswers: what is no vector is never stored, and the endpoint is left alone for a while.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	one := func(v []float32) func(context.Context, []string) ([][]float32, error) {
		return func(_ context.Context, texts []string) ([][]float32, error) {
			out := make([][]float32, len(texts))
			for i, text := range texts {
				out[i] = hashed(text, 32)
			}
			out[len(out)-1] = v
			return out, nil
		}
	}
	nan := hashed("x", 32)
	nan[3] = float32(math.NaN())
	inf := hashed("x", 32)
	inf[3] = float32(math.Inf(1))
	for name, tc := range map[string]struct {
		trick func(context.Context, []string) ([][]float32, error)
		says  string
	}{
		"NaN":     {one(nan), "no number"},
		"Inf":     {one(inf), "no number"},
		"zero":    {one(make([]float32, 32)), "zero"},
		"sizes":   {one(hashed("x", 31)), "32 and 31 dimensions"},
		"empty":   {one([]float32{}), "0 dimensions"},
		"huge":    {one(make([]float32, maxDims+1)), "16385 dimensions"},
		"too few": {func(context.Context, []string) ([][]float32, error) { return [][]float32{{1}}, nil }, "1 vectors for 5"},
		"limit": {func(context.Context, []string) ([][]float32, error) {
			return nil, &Failure{Says: "429", Until: time.Now().Add(10 * time.Minute), Retryable: true}
		}, "429; asked again in 10m0s"},
		"other": {func(context.Context, []string) ([][]float32, error) { return nil, errors.New("broken") }, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fill(5)
			w.conf.Pause = policy.Backoff{First: time.Minute, Cap: time.Minute}
			w.fake.set(func(ctx context.Context, texts []string) ([][]float32, error) {
				if len(texts) < 5 { // not all rows are read yet
					return nil, &Failure{Says: "busy", Retryable: true}
				}
				return tc.trick(ctx, texts)
			})
			v := w.run()
			st := v.until("paused", func(st Stats) bool { return st.Paused != "" })
			if st.Filled != 0 || st.Total != 5 || !strings.Contains(st.Paused, tc.says) {
				t.Errorf("got %+v, want nothing filled, and %q", st, tc.says)
			}
			if got := v.Nearest(t.Context(), "word1", nil, 3); got.Used || !strings.Contains(got.Note, "0 % filled") {
				t.Errorf("a search meanwhile says %+v", got)
			}
		})
	}
}

// TestItGoesOn: after a pause that an endpoint asked for it is asked again, and all is filled.
func TestItGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(12)
	w.conf.Pause = policy.Backoff{First: 20 * time.Millisecond, Cap: 40 * time.Millisecond}
	fails := 3
	w.fake.set(func(context.Context, []string) ([][]float32, error) {
		if fails--; fails >= 0 {
			return nil, &Failure{Says: "down"}
		}
		return nil, nil
	})
	if st := w.run().filled(12); st.Paused != "" {
		t.Errorf("it says %q still", st.Paused)
	}
}

// TestRefusedTexts: a text that the endpoint does not take is tried shorter, and then given up without holding the others
// up; one that takes no text at all is left alone.
func TestRefusedTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(10)
	long := w.save("lengthy " + strings.Repeat("word ", 500))
	bad := w.save("poison")
	w.fill(10)
	w.fake.set(func(_ context.Context, texts []string) ([][]float32, error) {
		for _, text := range texts {
			if strings.Contains(text, "poi") || len(text) > 1000 || text == "p" {
				return nil, &Failure{Says: "400", BlamesTexts: true}
			}
		}
		return nil, nil
	})
	v := w.run()
	st := v.until("settled", func(st Stats) bool { return st.Filled+st.Refused == 22 })
	if st.Refused != 1 || st.Paused != "" {
		t.Errorf("got %+v, want one refused", st)
	}
	got := v.Nearest(t.Context(), "lengthy word", nil, 30)
	if len(got.Hits) != 21 || got.Hits[0].ID != long || slices.ContainsFunc(got.Hits, func(h Hit) bool { return h.ID == bad }) {
		t.Errorf("got %d hits, want 21 without the refused one", len(got.Hits))
	}
	v.end()
	v = w.run()
	v.until("settled again", func(st Stats) bool { return st.Refused == 1 && st.Filled == 21 })

	none := newWorld(t)
	none.fill(3)
	none.fake.set(func(context.Context, []string) ([][]float32, error) {
		return nil, &Failure{Says: "404", BlamesTexts: true}
	})
	if st := none.run().until("paused", func(st Stats) bool { return st.Paused != "" }); st.Refused != 0 || st.Total != 3 {
		t.Errorf("an endpoint that takes nothing: %+v, want nothing given up", st)
	}
}

// TestSecretsStay: what leaves the machine, a question too, went through Redact whole, and only then was cut.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save("the password is hunter2 for all")
	w.save(strings.Repeat("a ", maxText/2-3) + "hunter2 behind")
	v := w.run()
	v.filled(2)
	v.Nearest(t.Context(), "where is hunter2", nil, 1)
	for _, list := range w.fake.asked {
		for _, text := range list {
			if strings.Contains(text, "hunt") || len(text) > maxText {
				t.Errorf("%d bytes were sent, or a secret: %.40q ... %q", len(text), text, text[max(0, len(text)-20):])
			}
		}
	}
	if len(w.fake.asked) < 2 {
		t.Error("nothing was sent")
	}
}

// TestQuestions: they are remembered, bounded in time, and not put to an endpoint that just did not answer.
func TestQuestions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(4)
		w.conf.QueryTimeout, w.conf.QueryPatience = 20*time.Millisecond, 20*time.Millisecond
		v := w.run()
		v.filled(4)
		before := w.fake.texts()
		for range 3 {
			if got := v.Nearest(t.Context(), "word1", nil, 2); !got.Used || len(got.Hits) != 2 {
				t.Errorf("got %+v", got)
			}
		}
		if n := w.fake.texts() - before; n != 1 {
			t.Errorf("asked %d times for one question", n)
		}
		w.fake.set(func(ctx context.Context, _ []string) ([][]float32, error) { <-ctx.Done(); return nil, ctx.Err() })
		began := time.Now()
		got := v.Nearest(t.Context(), "word2", nil, 2)
		if took := time.Since(began); got.Used || !strings.Contains(got.Note, "no answer within 20ms") || took != 20*time.Millisecond {
			t.Errorf("an endpoint that hangs: %+v after %s", got, took)
		}
		v.queries.running.Wait()
		w.fake.set(nil)
		before = w.fake.texts()
		if got := v.Nearest(t.Context(), "word3", nil, 2); got.Used || !strings.Contains(got.Note, "asked again in") || w.fake.texts() != before {
			t.Errorf("at once after that: %+v", got)
		}
		if got := v.Nearest(t.Context(), "word1", nil, 2); !got.Used {
			t.Errorf("what is remembered needs no endpoint: %+v", got)
		}
		time.Sleep(time.Minute) // the pause is over
		for i := range 2 * maxQuestions {
			v.Nearest(t.Context(), strings.Repeat("x", i+1), nil, 1)
		}
		if n := len(v.queries.asked); n != maxQuestions || v.queries.remembers("x") || !v.queries.remembers(strings.Repeat("x", 2*maxQuestions)) {
			t.Errorf("%d questions are remembered", n)
		}
	})
}

// TestDamage: a file that was changed behind our back is checked at the start; only what stands behind the damage is paid for
// again.
func TestDamage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake.dims = 8192 // a block has 8 rows
	ids := w.fill(32)
	v := w.run()
	v.filled(32)
	bad := rowsIn(t, v.store)[20]
	v.end()
	b, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	needle := vectorBytes(bad)
	for at := bytes.Index(b, needle); at >= 0; at = bytes.Index(b, needle) { // it is in unused pages too
		b[at+7] ^= 1
	}
	if err := os.WriteFile(w.path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	asked := w.fake.texts()
	v = w.run()
	v.until("made anew in part", func(st Stats) bool { return w.fake.texts() > asked && st.Filled == 32 })
	w.holds(v.Vectors, ids)
	if n := w.fake.texts() - asked; n < 12 || n > 24 {
		t.Errorf("%d texts were asked for again, want about those of the last two blocks", n)
	}
}

// TestForget: rows, and what is about to become rows, are gone from the file at once, by id and by position, and no byte of
// their vectors is left; nor do they come back with a restart.
func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fill(12)
	v := w.run()
	v.filled(12)
	gone := []events.ID{ids[3], ids[11]} // the last is the checkpoint
	var needles []row
	for _, r := range rowsIn(t, v.store) {
		if slices.Contains(append(gone, ids[5]), r.id) {
			needles = append(needles, r)
		}
	}
	at := needles[1].position
	started, release := make(chan bool), make(chan bool)
	w.fake.set(func(_ context.Context, texts []string) ([][]float32, error) {
		if strings.Contains(texts[0], "in flight") {
			started <- true
			<-release
		}
		return nil, nil
	})
	flying := w.save("in flight while it is forgotten")
	<-started
	r := w.put(events.Daemon, events.MemoryForgotten{IDs: append(gone, flying), Positions: []events.Position{at}})
	if err := v.Wait(t.Context(), r.Position); err != nil {
		t.Fatal(err)
	}
	onDisk := func(when string) {
		t.Helper()
		for i, n := range needles {
			if holdsVector(t, w.path, n) {
				t.Errorf("%s: vector %d is in the file still", when, i)
			}
		}
	}
	onDisk("at once")
	w.fake.set(nil)
	close(release)
	v.filled(9)
	if err := v.Purge(t.Context(), r.Position); err != nil {
		t.Fatal(err)
	}
	onDisk("after a purge")
	v.store.mu.RLock()
	st := v.store.state
	v.store.mu.RUnlock()
	if st.Stale || st.Filled != 9 {
		t.Errorf("got %+v, want 9 rows", st)
	}
	v.end()
	v = w.run()
	if err := v.Wait(t.Context(), r.Position); err != nil {
		t.Fatal(err)
	}
	v.filled(9)
	if got := v.Nearest(t.Context(), "in flight word3 word11 word5", nil, 20); len(got.Hits) != 9 {
		t.Errorf("%d rows are found, want 9", len(got.Hits))
	}
	late := w.save("after all that")
	v.filled(10)
	w.holds(v.Vectors, []events.ID{ids[0], late})
}

// TestForgetErased: what is erased from the log without a record that says so goes from the file too.
func TestForgetErased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fill(12)
	v := w.run()
	v.filled(12)
	rows := rowsIn(t, v.store)
	gone := rows[slices.IndexFunc(rows, func(r row) bool { return r.id == ids[3] })]
	if !holdsVector(t, w.path, gone) {
		t.Fatal("the vector is not in the file: this test shows nothing")
	}
	for range 2 {
		if err := errors.Join(v.Forget(t.Context(), gone.position), v.Purge(t.Context(), gone.position)); err != nil {
			t.Fatal(err)
		}
		if v.filled(11); holdsVector(t, w.path, gone) {
			t.Error("its vector is in the file still")
		}
	}
}

// TestForgetManyAtOnce: what a slice of the log forgets costs one file, and what has no vector costs nothing.
func TestForgetManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fill(12)
	r := w.run()
	r.filled(12)
	r.end()
	var logged bytes.Buffer
	w.conf.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	v := w.open()
	defer v.Close()
	whole, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	forget := func(id events.ID) events.Record {
		return w.put(events.Daemon, events.MemoryForgotten{IDs: []events.ID{id}})
	}
	none := forget(uuid.Must(uuid.NewV7()))
	if err := v.apply([]events.Record{none}); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(w.path); err != nil || !bytes.Equal(after, whole) || v.Position() != none.Position {
		t.Errorf("the file changed for what it does not have, %v", err)
	}
	needles := rowsIn(t, v.store)[:3]
	hindered := filepath.Join(w.path+".compact", "in the way")
	if err := os.MkdirAll(hindered, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := v.apply([]events.Record{forget(ids[0]), forget(ids[1]), forget(ids[2])}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(logged.String(), "unused pages"); n != 1 || v.Stats().Filled != 9 {
		t.Errorf("written anew %d times, want once: %+v", n, v.Stats())
	}
	if err := errors.Join(os.RemoveAll(filepath.Dir(hindered)), v.Purge(t.Context(), v.Position())); err != nil {
		t.Error(err)
	}
	for i, n := range needles {
		if holdsVector(t, w.path, n) {
			t.Errorf("vector %d is in the file still", i)
		}
	}
}

// TestClosed: nothing is done with what is closed.
func TestClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(3)
	v := w.run()
	st := v.filled(3)
	v.end()
	if err := v.Close(); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := v.Purge(t.Context(), st.Position); !errors.Is(err, ErrClosed) {
		t.Errorf("purge: %v", err)
	}
	if got := v.Nearest(t.Context(), "word1", nil, 3); got.Used || got.Hits != nil {
		t.Errorf("nearest: %+v", got)
	}
}

// TestTriesAgain: a log that cannot be read is told, and read again later.
func TestTriesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.open()
	defer v.Close()
	broken := &brokenLog{Log: w.log}
	broken.is.Store(true)
	v.log = broken
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	for v.Trouble() == nil {
		time.Sleep(time.Millisecond)
	}
	if got := v.Stats().Stopped; !strings.Contains(got, "trying again at ") {
		t.Errorf("status: got %q", got)
	}
	limited, end := context.WithTimeout(ctx, 10*time.Millisecond)
	defer end()
	if err := v.Purge(limited, 99); !errors.Is(err, errBroken) || !errors.Is(err, engine.ErrStopped) {
		t.Errorf("a purge that is not served yet: %v", err)
	}
	broken.is.Store(false)
	if err := v.Rebuild(ctx, func(int, int) {}); err != nil { // which does not wait for the pause
		t.Errorf("rebuild: %v", err)
	}
	if got := v.Stats().Stopped; got != "" {
		t.Errorf("status afterwards: got %q", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run: got %v", err)
	}
}

var errBroken = errors.New("broken")

// brokenLog cannot be read while it is broken.
type brokenLog struct {
	eventlog.Log
	is atomic.Bool
}

func (l *brokenLog) Follow(ctx context.Context, from events.Position) iter.Seq2[events.Record, error] {
	if !l.is.Load() {
		return l.Log.Follow(ctx, from)
	}
	return func(yield func(events.Record, error) bool) { yield(events.Record{}, errBroken) }
}
