package providers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// answering is an observer that a test answers for.
type answering func(p observer.Prompt) (string, error)

func (answering) Name() string                    { return "answering" }
func (answering) Model() string                   { return "m" }
func (answering) BatchLimits() policy.BatchLimits { return policy.BatchLimits{MaxInputs: 20} }
func (a answering) Complete(_ context.Context, p observer.Prompt) (observer.Reply, error) {
	text, err := a(p)
	if err != nil {
		return observer.Reply{}, err
	}
	return observer.Reply{Text: events.NewOutput(text), Form: events.FormXML, Bill: events.Bill{Usage: events.Usage{Input: 10}, Calls: 1}}, nil
}

// recorded is what was captured of a session: a prompt, n uses of a tool and a stop, long ago.
func recorded(t *testing.T, n int) (log *eventlog.Bolt, captured []events.Record) {
	t.Helper()
	log = logtest.Open(t, eventlog.Config{})
	id, at := events.SessionIDOf("claude-code", "s"), time.Now().Add(-100*time.Hour)
	say := func(e events.Event) {
		at = at.Add(time.Second)
		_, err := eventlog.AppendEnd(t.Context(), log, id.Stream(), events.Draft{ID: newID(), OccurredAt: at, Event: e})
		if err != nil {
			t.Fatal(err)
		}
	}
	say(events.SessionOpened{Agent: "claude-code", AgentSession: "s", Project: "shop", ProjectRoot: "/src/shop", Cwd: "/src/shop"})
	say(events.PromptSubmitted{Number: 1, Text: "mend the cart"})
	for i := range n {
		say(events.ToolUsed{ToolUseID: fmt.Sprint(i), Tool: "Bash", Input: fmt.Sprintf(`{"command":"step %d"}`, i), Output: "done", Prompt: 1})
	}
	say(events.AgentStopped{LastMessage: "The cart is mended.", Cause: events.StopDone, Work: n, Prompt: 1})
	for r, err := range log.All(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		captured = append(captured, r)
	}
	return log, captured
}

// rehearsed has an observer work on captured records.
func rehearsed(t *testing.T, by answering, captured []events.Record) (p playResult, inputs int, paid events.Usage, err error) {
	t.Helper()
	r, end, err := newRehearsal(filepath.Join(t.TempDir(), "log.db"), by, observer.CodeMode().TypeIDs(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	r.onBill = func(b events.Bill) { paid.Input += b.Usage.Input }
	r.onTurn = func(n int) { inputs += n }
	p, err = r.play(t.Context(), captured)
	return p, inputs, paid, err
}

func shown(p playResult) (lines []string) {
	for _, r := range p.rows {
		lines = append(lines, fmt.Sprint(r.Prompt, " ", r.line()))
	}
	return lines
}

const (
	anObservation = "<observation><type>bugfix</type><title>The cart holds one lock</title></observation>"
	aSummary      = "<summary><completed>mended</completed></summary>"
)

func TestRehearsal(t *testing.T) {
	t.Parallel()
	blamed := &observer.Failure{Class: events.FailRefused, Message: "not that"}
	for name, c := range map[string]struct {
		answer                          answering
		lines                           []string
		turns, failed, dropped, skipped int
		err                             string
	}{
		"as in a daemon": {func(p observer.Prompt) (string, error) {
			if p.Kind == events.TurnSummary {
				if len(p.Observed) != 1 || p.Observed[0].Title != "The cart holds one lock" || p.Message != "The cart is mended." || p.Request != "mend the cart" {
					t.Errorf("the summary is asked with %+v", p)
				}
				return aSummary, nil
			}
			if len(p.Inputs) != 4 || p.Project != "shop" {
				t.Errorf("%d inputs of %s", len(p.Inputs), p.Project)
			}
			return anObservation, nil
		}, []string{"1 bugfix: The cart holds one lock", "1 summary: mended"}, 2, 0, 0, 0, ""},
		"nothing to say": {func(observer.Prompt) (string, error) { return observer.SkipForm, nil }, nil, 2, 0, 0, 2, ""},
		"nothing to be read": {func(p observer.Prompt) (string, error) {
			if p.Kind == events.TurnSummary {
				return aSummary, nil
			}
			return "All done!", nil
		}, []string{"1 summary: mended"}, 2, 0, 1, 0, ""},
		"a service that rests is the end": {func(observer.Prompt) (string, error) {
			return "", &observer.Failure{Class: events.FailLimit, Message: "slow down"}
		}, nil, 1, 1, 0, 0, "answering failed: limit: slow down"},
		"a crash is the end": {func(observer.Prompt) (string, error) { return "", errors.New("gone") }, nil, 1, 1, 0, 0, "gone"},
		"what refuses one input gets the others": {func(p observer.Prompt) (string, error) {
			for _, in := range p.Inputs {
				if u, ok := in.Event.(events.ToolUsed); ok && strings.Contains(u.Input, "step 2") {
					return "", blamed
				}
			}
			if p.Kind == events.TurnSummary {
				return aSummary, nil
			}
			return anObservation, nil
		}, []string{"1 bugfix: The cart holds one lock", "1 bugfix: The cart holds one lock", "1 summary: mended"}, 12, 9, 0, 0, ""},
		"what refuses all is the end": {func(observer.Prompt) (string, error) { return "", blamed }, nil, maxBlamed, maxBlamed, 0, 0, "answering failed: refused: not that"},
	} {
		log, captured := recorded(t, 4)
		turns := 0
		p, inputs, paid, err := rehearsed(t, func(p observer.Prompt) (string, error) { turns++; return c.answer(p) }, captured)
		got := []int{turns, p.failed, p.dropped, p.skipped}
		if want := []int{c.turns, c.failed, c.dropped, c.skipped}; !cmp.Equal(got, want) || !cmp.Equal(shown(p), c.lines) {
			t.Errorf("%s: got %v and %q, want %v and %q", name, got, shown(p), want, c.lines)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, want %q", name, err, c.err)
		}
		if err == nil && (inputs < 4 || paid.Input != int64(10*(turns-p.failed))) {
			t.Errorf("%s: %d inputs, %d tokens", name, inputs, paid.Input)
		}
		if last, err := log.Last(t.Context()); err != nil || int(last) != len(captured) {
			t.Errorf("%s: the log that is read ends at %d, %v", name, last, err)
		}
	}
}

// What was erased is not there, and neither is what was made of the session: an observer begins anew.
func TestRehearsalOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	log, captured := recorded(t, 3)
	if err := log.Erase(t.Context(), captured[2].Position); err != nil {
		t.Fatal(err)
	}
	for i, c := range captured {
		captured[i], _ = log.Get(t.Context(), c.Position)
	}
	asked := 0
	_, _, _, err := rehearsed(t, func(p observer.Prompt) (string, error) {
		if p.Kind == events.TurnObservation {
			asked += len(p.Inputs)
		}
		return observer.SkipForm, nil
	}, captured)
	if err != nil || asked != 2 {
		t.Errorf("%d inputs, %v, want the 2 that are left", asked, err)
	}
}

func TestStandInCounts(t *testing.T) {
	t.Parallel()
	_, captured := recorded(t, 3)
	s := &standIn{Provider: answering(nil)}
	p, _, _, err := rehearsed(t, func(p observer.Prompt) (string, error) {
		_, err := s.Complete(t.Context(), p)
		return observer.SkipForm, err
	}, captured)
	if err != nil || s.turns != 2 || s.bytes < 50 || p.skipped != 2 {
		t.Errorf("%d turns, %d bytes, %d skipped, %v", s.turns, s.bytes, p.skipped, err)
	}
}
