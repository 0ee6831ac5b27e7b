package projections

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/outcomes"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/testkit/follow"
)

// tempDir is a folder for one run of a property.
func tempDir(t tb) string {
	dir, err := os.MkdirTemp("", "views")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// asKilled is a folder with the open views in dir as a kill would leave them: the mark stays.
func asKilled(t *rapid.T, dir string) string {
	to := tempDir(t)
	for _, name := range []string{viewsFile, viewsMark} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func openIn(t *rapid.T, dir string, w *world, slice int) *Views {
	v, err := Open(dir, w.log, engine.Config{BootID: "b", Pace: engine.Pace{Records: slice}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRebuiltEqualsLive lets things happen under views that follow in slices of any size, are closed, killed, reopened
// and rebuilt at any moment; what they hold at the end is byte for byte what views hold that see the log once, with
// all that was erased gone.
func TestRebuiltEqualsLive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		dir := tempDir(t)
		v := openIn(t, dir, w, 3)
		defer func() { v.Close() }()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step(t)
			switch rapid.IntRange(0, 9).Draw(t, "then") {
			case 0, 1:
				follow.MustCatchUp(t, v)
				checkBalance(t, w, v)
			case 2:
				if err := v.Close(); err != nil {
					t.Fatal(err)
				}
				v = openIn(t, dir, w, rapid.IntRange(1, 7).Draw(t, "slice"))
			case 3:
				dir = asKilled(t, dir)
				if err := v.Close(); err != nil {
					t.Fatal(err)
				}
				v = openIn(t, dir, w, rapid.IntRange(1, 7).Draw(t, "slice"))
			case 4:
				follow.MustCatchUp(t, v)
				if err := v.Rebuild(context.Background(), []string{rapid.SampledFrom(v.Names()).Draw(t, "view")}, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		follow.MustCatchUp(t, v)
		checkBalance(t, w, v)
		fresh := openIn(t, tempDir(t), w, 1000)
		defer fresh.Close()
		follow.MustCatchUp(t, fresh)
		// A view that was rebuilt lies in another bucket: bring both to the same names.
		if err := v.Rebuild(context.Background(), nil, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(byName(dump(t, fresh)), byName(dump(t, v))); diff != "" {
			t.Fatalf("rebuilt differs (-once +rebuilt):\n%s", diff)
		}
	})
}

// TestLiveEqualsOnce is the same without any rebuild at the end.
func TestLiveEqualsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		dir := tempDir(t)
		v := openIn(t, dir, w, rapid.IntRange(1, 9).Draw(t, "slice"))
		defer func() { v.Close() }()
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			w.step(t)
			if rapid.IntRange(0, 3).Draw(t, "catch up") == 0 {
				follow.MustCatchUp(t, v)
			}
		}
		follow.MustCatchUp(t, v)
		fresh := openIn(t, tempDir(t), w, 1000)
		defer fresh.Close()
		follow.MustCatchUp(t, fresh)
		if diff := cmp.Diff(dump(t, fresh), dump(t, v)); diff != "" {
			t.Fatalf("live differs (-once +live):\n%s", diff)
		}
		if left := len(erasedLeft(t, w, v)); left > 0 {
			t.Fatalf("%d rows of erased records are left", left)
		}
	})
}

// erasedLeft are rows that still stand although their record's payload is erased.
func erasedLeft(t *rapid.T, w *world, v *Views) []rows.Row {
	recent, err := v.Recent(context.Background(), rows.RecentFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var left []rows.Row
	for _, row := range recent {
		r, err := w.log.Get(context.Background(), row.Position)
		if err != nil {
			t.Fatal(err)
		}
		if r.Erased {
			left = append(left, row)
		}
	}
	return left
}

// checkBalance compares every outcome, and the balance of each session and of all, with the definition: the outcome of
// an input is that of the latest turn that kept or skipped it; else dropped if a turn or InputsDropped dropped it; else
// pending; forgotten is final, and said in the stream of the input's own session alone.
func checkBalance(t tb, w *world, v *Views) {
	t.Helper()
	naive := naiveOutcomes(t, w)
	want := map[events.SessionID]map[outcomes.Outcome]int{}
	for at, n := range naive {
		in, err := v.Outcome(context.Background(), at)
		if err != nil || in.Outcome != n.outcome {
			t.Fatalf("input %d: got %v %v, want %v", at, in.Outcome, err, n.outcome)
		}
		for _, s := range []events.SessionID{{}, n.session} {
			if want[s] == nil {
				want[s] = map[outcomes.Outcome]int{}
			}
			want[s][n.outcome]++
		}
	}
	for s, counts := range want {
		got, err := v.BalanceOf(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		reasons := 0
		for _, r := range got.Reasons {
			reasons += r.Count
		}
		if got.Captured != got.Observed+got.Skipped+got.Dropped+got.Pending+got.Forgotten || reasons != got.Skipped+got.Dropped {
			t.Fatalf("balance of %s does not add up: %+v", s, got)
		}
		have := map[outcomes.Outcome]int{outcomes.Observed: got.Observed, outcomes.Skipped: got.Skipped, outcomes.Dropped: got.Dropped, outcomes.Pending: got.Pending, outcomes.Forgotten: got.Forgotten}
		for o, n := range have {
			if counts[o] != n {
				t.Fatalf("balance of %s: %s: got %d, want %d", s, o, n, counts[o])
			}
			checkOutcomes(t, v, outcomes.Filter{Outcome: o, Session: s, Limit: 1000}, n)
		}
		checkOutcomes(t, v, outcomes.Filter{Session: s, Limit: 1000}, got.Captured)
	}
}

func checkOutcomes(t tb, v *Views, f outcomes.Filter, want int) {
	t.Helper()
	list, err := v.Outcomes(context.Background(), f)
	if err != nil || len(list) != want {
		t.Fatalf("outcomes %+v: got %d, %v, want %d", f, len(list), err, want)
	}
	for n := 1; n < len(list); n++ {
		if list[n].Position >= list[n-1].Position {
			t.Fatalf("outcomes %+v: not the latest first", f)
		}
	}
}

type naiveInput struct {
	session events.SessionID
	outcome outcomes.Outcome
}

func naiveOutcomes(t tb, w *world) map[events.Position]naiveInput {
	out := map[events.Position]naiveInput{}
	turns := map[events.ID][]events.Position{}
	set := func(at events.Position, o outcomes.Outcome) {
		in, ok := out[at]
		if !ok || in.outcome == outcomes.Forgotten || o == outcomes.Dropped && (in.outcome == outcomes.Observed || in.outcome == outcomes.Skipped) {
			return
		}
		in.outcome = o
		out[at] = in
	}
	for r, err := range w.log.All(context.Background(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if r.IsInput() {
			s, _ := r.Stream.Session()
			out[r.Position] = naiveInput{session: s, outcome: outcomes.Pending}
		}
		e, _ := r.Event()
		switch e := e.(type) {
		case events.TurnStarted:
			turns[e.Turn] = e.Settles
		case events.InputsDropped:
			for _, at := range e.Inputs {
				set(at, outcomes.Dropped)
			}
		case events.MemoryForgotten:
			for _, at := range e.Positions {
				if s, _ := r.Stream.Session(); out[at].session == s {
					set(at, outcomes.Forgotten)
				}
			}
		}
		by := map[events.Kind]outcomes.Outcome{
			events.KindObservationParsed: outcomes.Observed, events.KindSummaryParsed: outcomes.Observed,
			events.KindOutputSkipped: outcomes.Skipped, events.KindOutputDropped: outcomes.Dropped,
		}
		if o, ok := by[r.Kind]; ok {
			for _, at := range turns[r.Correlation] {
				set(at, o)
			}
		}
	}
	return out
}

// byName takes the mark of second copies out of a dump, and the checkpoints, which name them.
func byName(lines []string) []string {
	var out []string
	for _, l := range lines {
		if len(l) > len(viewsPoints) && l[:len(viewsPoints)] == viewsPoints {
			continue
		}
		for n := range l {
			if l[n] == '/' {
				if n > 0 && l[n-1:n] == viewsSecond {
					l = l[:n-1] + l[n:]
				}
				break
			}
		}
		out = append(out, l)
	}
	return out
}
