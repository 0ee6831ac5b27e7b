package replay

import (
	"errors"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// TestExamineIsProveAndRecord takes random logs, some of them with payloads erased, both ways.
func TestExamineIsProveAndRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newScript(tbOf{t, rt})
		s.life(randomSettings(rt))
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			s.randomStep(rt)
		}
		last, err := s.log.Last(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		if rapid.Bool().Draw(rt, "erased") {
			if err := s.log.Erase(t.Context(), events.Position(rapid.Uint64Range(1, uint64(last)).Draw(rt, "which"))); err != nil {
				rt.Fatal(err)
			}
		}
		w := Wanted{Inputs: rapid.Bool().Draw(rt, "inputs")}
		if rapid.Bool().Draw(rt, "until") {
			w.Until = s.now.Add(-time.Minute)
		}
		proof, rec, err := Examine(s.log.All(t.Context(), 1), w, nil)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(s.record(w), rec); diff != "" {
			rt.Fatalf("Record is otherwise (-alone +together):\n%s", diff)
		}
		if diff := cmp.Diff(prove(s.tb, s.log, w.Selection), proof); diff != "" && proof.Last != 0 {
			rt.Fatalf("Prove is otherwise (-alone +together):\n%s", diff)
		}
	})
}

func TestExamineOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := stretch(t)
	broken := errors.New("broken")
	records := func(yield func(events.Record, error) bool) {
		for r, err := range s.log.All(t.Context(), 1) {
			if r.Position == 5 {
				err = broken
			}
			if !yield(r, err) {
				return
			}
		}
	}
	if _, _, err := Examine(records, Wanted{}, nil); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the sequence", err)
	}
}

// TestReadAhead has a reader leave a sequence that has no end.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	var given, over atomic.Int64
	endless := func(yield func(events.Record, error) bool) {
		defer over.Add(1)
		for given.Add(1); yield(events.Record{Header: events.Header{Position: events.Position(given.Load())}}, nil); given.Add(1) {
		}
	}
	taken := int64(0)
	for r, err := range readAhead(endless) {
		if taken++; err != nil || int64(r.Position) != taken {
			t.Fatalf("record %d, %v; want %d", r.Position, err, taken)
		}
		if taken == 10*readBatch+3 {
			break
		}
	}
	if over.Load() != 1 {
		t.Error("the sequence goes on when it was left")
	}
	if ahead := given.Load() - taken; ahead > (readBatches+3)*readBatch {
		t.Errorf("%d records were read ahead, want at most %d", ahead, (readBatches+3)*readBatch)
	}
	broken := errors.New("broken")
	failing := iter.Seq2[events.Record, error](func(yield func(events.Record, error) bool) {
		for range readBatch + 1 {
			yield(events.Record{}, nil)
		}
		yield(events.Record{}, broken)
	})
	n := 0
	for _, err := range readAhead(failing) {
		if n++; err != nil && (n != readBatch+2 || !errors.Is(err, broken)) {
			t.Errorf("record %d: %v", n, err)
		}
	}
	if n != readBatch+2 {
		t.Errorf("%d records, want %d and the error behind them", n, readBatch+1)
	}
}

// TestRecordHoldsOnlyTheInputsItGives takes a short stretch with its inputs out of a log of many. It is not parallel: it
// looks at the memory of the whole program.
func TestRecordHoldsOnlyTheInputsItGives(t *testing.T) {
	s := newScript(t)
	for i := range 400 {
		s.capture("a", events.ToolUsed{Tool: "Read", Output: strings.Repeat(string(rune('a'+i%26)), 64<<10)})
	}
	s.stop("a")
	s.mustStart("a")
	s.answer("a", observed)
	s.mustStart("a")
	s.answer("a", summarized)
	s.later(time.Hour)
	since := s.now
	s.work("a", 2)
	s.stop("a")
	s.mustStart("a")
	s.answer("a", observed)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	last, err := s.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, most := heap(), int64(0)
	rec, err := Record(func(yield func(events.Record, error) bool) {
		for r, err := range s.log.All(t.Context(), 1) {
			if r.Position == last {
				most = max(most, heap()-before)
			}
			if !yield(r, err) {
				return
			}
		}
	}, Wanted{Selection: Selection{Since: since}, Inputs: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Scenario.Events) != 1 || len(rec.Scenario.Events[0].Inputs) != 2 {
		t.Fatalf("got %+v", rec.Scenario.Events)
	}
	if most > 8<<20 {
		t.Errorf("%d bytes are held to give 2 inputs of a log of 26 MB", most)
	}
}
