package session

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// TestOnlyTheTurnThatComesNextIsBegun changes each part of the work that is due: the log is never told of a turn that the
// state does not lead to.
func TestOnlyTheTurnThatComesNextIsBegun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *Work)
		want   string // in the refusal; empty: it is let through
	}{
		"as it is":            {func(*Work) {}, ""},
		"less of it":          {func(w *Work) { w.Settles = w.Settles[:2] }, ""},
		"nothing":             {func(w *Work) { w.Settles = nil }, "not due"},
		"without the first":   {func(w *Work) { w.Settles = w.Settles[1:] }, "settles"},
		"with a hole":         {func(w *Work) { w.Settles = slices.Delete(w.Settles, 1, 2) }, "settles"},
		"one twice":           {func(w *Work) { w.Settles[1] = w.Settles[0] }, "settles"},
		"in another order":    {func(w *Work) { slices.Reverse(w.Settles) }, "settles"},
		"of other work":       {func(w *Work) { w.Settles = append(w.Settles, w.Settles[3]+20) }, "settles"},
		"with its stop":       {func(w *Work) { w.Settles = append(w.Settles, w.Reads...) }, "settles"},
		"a summary of it all": {func(w *Work) { w.Kind, w.Settles = events.TurnSummary, append(w.Settles, w.Reads...) }, "settles"},
		"of another kind":     {func(w *Work) { w.Kind = events.TurnSummary }, "summary turn"},
		"without its stop":    {func(w *Work) { w.Reads = nil }, "reads"},
		"reading more":        {func(w *Work) { w.Reads = append(w.Reads, 1) }, "reads"},
		"for the 99th time":   {func(w *Work) { w.Attempt = 99 }, "attempt 99"},
		"of another prompt":   {func(w *Work) { w.Prompt = 77 }, "prompt 77"},
		"as a probe":          {func(w *Work) { w.Probe = true }, "probe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSim(t, policy.ModelLimits())
			m.must(m.capture(events.PromptSubmitted{Text: "go"}))
			repeat(m, 4)
			m.stop()
			repeat(m, 2)
			w := *m.plan().Turn
			c.change(&w)
			err := m.do(StartTurn{Turn: m.id(), At: m.now, Work: w, Provider: "test"})
			if c.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if !errors.Is(err, ErrNotDue) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ErrNotDue for its %s", err, c.want)
			}
		})
	}
}

// TestATurnStaysBehindWhatStandsBetweenItsInputs: what a failure cut apart is not asked about together, and a probe asks
// about one input.
func TestATurnStaysBehindWhatStandsBetweenItsInputs(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 6)
	m.stop()
	all := m.plan().Turn.Settles
	m.must(m.fail(m.start(), events.FailOverflow))
	begin := func(n int) error {
		w := *m.plan().Turn
		first := slices.Index(all, w.Settles[0])
		w.Settles = all[first:][:n]
		return m.do(StartTurn{Turn: m.id(), At: m.now, Work: w, Provider: "test"})
	}
	if err := begin(4); !errors.Is(err, ErrNotDue) {
		t.Errorf("four of what was halved to three: got %v, want ErrNotDue", err)
	}
	m.rules.Restarts.MaxConsecutive = 1
	m.crash()
	m.crash()
	m.await()
	if err := begin(2); !errors.Is(err, ErrNotDue) {
		t.Errorf("a probe of two: got %v, want ErrNotDue", err)
	}
	if err := begin(1); err != nil {
		t.Errorf("a probe of one: %v", err)
	}
}

func TestNothingIsBegunWhereNothingIsOwed(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	m.tool("a")
	m.stop()
	w := *m.plan().Turn
	m.must(m.keep(m.start()))
	m.must(m.keep(m.start()))
	if err := m.do(StartTurn{Turn: m.id(), At: m.now, Work: w}); !errors.Is(err, ErrNotDue) {
		t.Errorf("got %v, want ErrNotDue", err)
	}
}

// TestWhatCameLaterStaysOutOfAHalf: it was not part of what was too long.
func TestWhatCameLaterStaysOutOfAHalf(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.BatchLimits{MaxInputs: 3})
	repeat(m, 3)
	m.must(m.fail(m.start(), events.FailOverflow))
	repeat(m, 2)
	var got []int
	for m.plan().Turn != nil {
		got = append(got, len(m.plan().Turn.Settles))
		m.must(m.keep(m.start()))
	}
	if d := cmp.Diff([]int{2, 1}, got); d != "" {
		t.Errorf("sizes of the turns over three that were too long, with two later ones not due (-want +got):\n%s", d)
	}
}

// TestAStopWhileAPromptIsReadIsReadAsWell: the turn was planned without it, and is planned again.
func TestAStopWhileAPromptIsReadIsReadAsWell(t *testing.T) {
	t.Parallel()
	m := newSim(t, policy.ModelLimits())
	repeat(m, 20)
	planned := StartTurn{Turn: m.id(), At: m.now, Work: *m.plan().Turn, Provider: "test"}
	if errs := m.doTogether(m.capture(events.AgentStopped{}), planned); !errors.Is(errs[1], ErrNotDue) {
		t.Fatalf("behind a stop in the same append: got %v, want ErrNotDue", errs[1])
	}
	w := m.plan().Turn
	if w == nil || len(w.Reads) != 1 || cmp.Diff(planned.Work.Settles, w.Settles) != "" {
		t.Errorf("got %+v, want the same inputs, read with the stop", w)
	}
}
