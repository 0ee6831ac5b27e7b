package report_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/replay/report"
)

func TestElapsed(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{
		0: "0 ms", 999: "999 ms", 1000: "1 s", 48_000: "48 s", 59_999: "59 s", 60_000: "1 min", 270_000: "4 min 30 s",
		3_600_000: "1 h", 3_605_000: "1 h", 86_400_000: "1 d", 93_600_000: "1 d 2 h", -2000: "-2 s",
		math.MinInt64: "-53375995583 d 15 h",
	} {
		if got := report.Elapsed(ms); got != want {
			t.Errorf("Elapsed(%d) = %q, want %q", ms, got, want)
		}
	}
}

func TestBestIsOnlyWhereThereIsADifference(t *testing.T) {
	t.Parallel()
	_, runs := small()
	got := map[string]int64{}
	for _, f := range report.Figures() {
		if best, ok := f.Best(runs); ok {
			got[f.Key] = best
		}
	}
	want := map[string]int64{"respawns": 0, "lost_batches": 1, "wasted_calls": 2, "wasted_tokens": 3000}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestWhoRanAwayIsNotTheBest sets a policy that came to no end, and so lost nothing, beside the others.
func TestWhoRanAwayIsNotTheBest(t *testing.T) {
	t.Parallel()
	s, runs := small()
	away := report.Run{Policy: "windowed", Result: replay.Result{Error: "too many", Respawns: -1, WastedTokens: 1 << 40}}
	with := append(runs, away)
	for _, f := range report.Figures() {
		best, ok := f.Best(runs)
		if b, k := f.Best(with); b != best || k != ok {
			t.Errorf("%s: the best is %d, %t, beside one that ran away %d, %t", f.Key, best, ok, b, k)
		}
	}
	page := write(t, s, with, options())
	if !strings.Contains(page, ">given up: too many<") || strings.Contains(page, "1,099,511,627,776") {
		t.Error("the page shows figures of a policy that was given up, or not that it was")
	}
}

func TestStripShowsWhatMustNotBeMissed(t *testing.T) {
	t.Parallel()
	s, runs := small()
	letters := func(r report.Run, n int) string {
		line := make([]byte, n)
		for i, c := range report.Strip(s, r.Result, n) {
			line[i] = ' '
			if l, ok := c.Most(); ok {
				line[i] = l.Letter()
			}
		}
		return string(line)
	}
	for _, tt := range []struct {
		run, n int
		want   string
	}{
		{0, 6, "kdRRxs"}, {1, 6, "kdddxs"}, {2, 6, "kdthHh"},
		{0, 2, "RR"}, {1, 2, "dd"}, {2, 2, "dH"}, {2, 1, "H"},
		{1, 12, "k d d d x s "},
	} {
		if got := letters(runs[tt.run], tt.n); got != tt.want {
			t.Errorf("%s in %d places: %q, want %q", runs[tt.run].Policy, tt.n, got, tt.want)
		}
	}
}

// TestAnExitAfterAHaltIsNotHeld: nothing waits for an observer that has been given up to end.
func TestAnExitAfterAHaltIsNotHeld(t *testing.T) {
	t.Parallel()
	s := &replay.Scenario{EndMS: 10, Events: []replay.Event{{Kind: replay.KindExit}, {Kind: replay.KindSummary}}}
	r := replay.Result{Marks: []replay.Mark{{Decision: policy.RuleNone}, {Decision: policy.RuleNone}}}
	if got := report.Strip(s, r, 1)[0]; got[report.Held] != 1 {
		t.Errorf("%d held, want 1", got[report.Held])
	}
}

// TestStripCountsEveryMark holds each word of a decision to exactly one lane, wherever it falls.
func TestStripCountsEveryMark(t *testing.T) {
	t.Parallel()
	words := []policy.Ruling{
		policy.RuleKeep, policy.RuleSkip, policy.RuleDrop, policy.RuleHold, policy.RuleRespawn,
		policy.RuleRestart, policy.RuleHalt, policy.RuleRetry, policy.RuleNone,
	}
	rapid.Check(t, func(t *rapid.T) {
		s, r := &replay.Scenario{EndMS: rapid.Int64().Draw(t, "end")}, replay.Result{}
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			at := rapid.Int64Range(0, math.MaxInt64).Draw(t, "at")
			s.Events = append(s.Events, replay.Event{AtMS: at, Kind: replay.KindObservation})
			r.Marks = append(r.Marks, replay.Mark{AtMS: at, Decision: rapid.SampledFrom(words).Draw(t, "word")})
		}
		total := 0
		for _, c := range report.Strip(s, r, rapid.IntRange(1, 200).Draw(t, "places")) {
			for _, n := range c {
				total += n
			}
		}
		if total != len(r.Marks) {
			t.Fatalf("%d marks are drawn, want %d", total, len(r.Marks))
		}
	})
}

// TestTableFolds: policies that came to the same are one row under the name of the live one, and what was given up says why.
func TestTableFolds(t *testing.T) {
	t.Parallel()
	same, other := replay.Result{WastedTokens: 5}, replay.Result{WastedTokens: 9}
	runs := []report.Run{{Policy: "a", Result: same}, {Policy: "b", Result: other}, {Policy: "live", Result: same}, {Policy: "c", Result: replay.Result{Error: "too long"}}}
	var page strings.Builder
	if err := report.Write(&page, &replay.Scenario{ID: "s"}, runs, report.Options{Live: "live"}); err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{`<th scope="row">`: 3, `live</span><div class="meta">and the same: a</div></th>`: 1, "given up: too long": 1} {
		if got := strings.Count(page.String(), text); got != times {
			t.Errorf("%s stands there %d times, want %d", text, got, times)
		}
	}
}
