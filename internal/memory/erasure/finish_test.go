package erasure

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/outcomes"
)

var errKilled = errors.New("killed")

// TestFinish kills an erasure at every step, and has a new life finish it: nothing of it is left, nothing else is gone, and a
// second look finds nothing to do.
func TestFinish(t *testing.T) {
	t.Parallel()
	gone := []string{
		"first prompt", "tool a", "tool b", "raw [obs a sibling of a]", "obs a", "sibling of a", "tool c", "raw [obs b]", "obs b",
		"last message", "raw summary", "summary", "second prompt", "tool d", "raw [obs d]", "obs d", "note", "corrected note",
	}
	for kill := range 6 {
		w := newWorld(t)
		history(w)
		w.caughtUp()
		steps := 0
		cut := func() error {
			steps++
			if steps > kill {
				return errKilled
			}
			return nil
		}
		e := w.eraser(0)
		do := e.cfg.Do
		e.cfg.Do = func(ctx context.Context, id events.SessionID, cmds ...session.Command) (events.Position, error) {
			if err := cut(); err != nil {
				return 0, err
			}
			return do(ctx, id, cmds...)
		}
		e.cfg.Log = cutLog{e.cfg.Log, cut}
		files := e.cfg.Files[0].Purge
		e.cfg.Files = []Files{{Name: "files", Purge: func(ctx context.Context, at events.Position) error {
			return errors.Join(cut(), files(ctx, at))
		}}}
		_, err := e.Forget(t.Context(), Request{Project: "shop"}, nil)
		if kill < 3 && err == nil && len(w.left()) == len(all())-len(gone) {
			t.Fatalf("kill %d: nothing was cut", kill)
		}
		next := w.eraser(0)
		if err := next.finish(t.Context()); err != nil {
			t.Fatalf("kill %d: finish: %v", kill, err)
		}
		w.checkLeft(gone)
		w.verify()
		w.checkViews()
		w.purged.Store(0)
		if err := w.eraser(0).finish(t.Context()); err != nil || w.purged.Load() != 0 {
			t.Errorf("kill %d: a second look: %v, files made anew %d times", kill, err, w.purged.Load())
		}
		if s := next.Status(); s.Owed {
			t.Errorf("kill %d: something is owed still", kill)
		}
	}
}

// cutLog is a log that a kill cuts off.
type cutLog struct {
	eventlog.Log
	cut func() error
}

func (l cutLog) Erase(ctx context.Context, at ...events.Position) error {
	if err := l.cut(); err != nil {
		return err
	}
	return l.Log.Erase(ctx, at...)
}

// TestFinishAfterARestore: a log of before the erasure, put back in its place, or one without a note of it, is looked at
// whole: what it says is forgotten is erased.
func TestFinishAfterARestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("one", "shop")
	a := w.tool(s, 0, "the secret")
	seen := w.observe(s, 0, []events.Position{a}, "obs of it")
	w.say(s, events.ID{}, events.MemoryForgotten{Positions: []events.Position{a}, Cause: CausePerson})
	w.caughtUp()
	if err := w.Eraser.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := w.left(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	w.caughtUp()
	if row, err := w.views.Row(t.Context(), w.rows["obs of it"]); err != nil || !row.Forgotten {
		t.Errorf("what was made of it, at %d: %+v, %v", seen[0], row, err)
	}
}

// TestRefusedIsTriedAgain: a session that cannot be asked keeps the others back from nothing, and is asked by the next life.
func TestRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	history(w)
	w.refuse.Store(sessionOf("one"), true)
	done := w.forget(Request{Query: "tool"})
	if len(done.Refused) != 1 || done.Refused[0].Session != sessionOf("one") || done.Sessions != 1 {
		t.Fatalf("done %+v", done)
	}
	if left := strings.Join(w.left(), "\n"); strings.Contains(left, "tool z") || !strings.Contains(left, "tool a") {
		t.Errorf("left:\n%s", left)
	}
	next := w.eraser(0)
	if err := next.finish(t.Context()); !errors.Is(err, errRefused) {
		t.Errorf("finish: %v, want %v", err, errRefused)
	}
	w.refuse.Clear()
	if err := next.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := strings.Join(w.left(), "\n"); strings.Contains(left, "tool") {
		t.Errorf("left:\n%s", left)
	}
	if b, err := os.ReadFile(w.state); err != nil || strings.Contains(string(b), "pending") {
		t.Errorf("the state is %s, %v", b, err)
	}
}

// TestRetention erases settled inputs that are old enough, and nothing else; what was not settled is taken when it is.
func TestRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("one", "shop")
	w.say(s, events.ID{}, events.PromptSubmitted{Number: 1, Text: "a prompt"})
	settled, open := w.tool(s, 1, "settled"), w.tool(s, 1, "open")
	w.observe(s, 1, []events.Position{settled}, "what was made of it")
	w.say(s, events.ID{}, events.AgentStopped{LastMessage: "no work", Prompt: 1})
	w.now = w.now.Add(10 * 24 * time.Hour)
	young := w.tool(s, 1, "young")
	w.observe(s, 1, []events.Position{young}, "young memory")
	w.caughtUp()
	days := 5 * 24 * time.Hour
	look := func(inputs int, want ...string) {
		t.Helper()
		e := w.eraser(days)
		if err := e.retain(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range w.left() {
			_, text, _ := strings.Cut(l, ": ")
			got = append(got, strings.TrimPrefix(text, `Bash {"command":"run"} `))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
		if st := e.Status(); st.Inputs != inputs || st.Owed || st.Looked.IsZero() {
			t.Errorf("status %+v, want %d inputs", st, inputs)
		}
		w.verify()
	}
	rest := []string{"a prompt", "open", "raw [what was made of it]", "what was made of it", "young", "raw [young memory]", "young memory"}
	look(2, rest...)
	w.purged.Store(0)
	look(2, rest...)
	if w.purged.Load() != 0 {
		t.Error("files were made anew for nothing")
	}
	w.observe(s, 1, []events.Position{open}, "late")
	w.caughtUp()
	look(3, slices.Concat([]string{"a prompt"}, rest[2:], []string{"raw [late]", "late"})...)
	w.caughtUp()
	if row, err := w.views.Row(t.Context(), w.rows["what was made of it"]); err != nil || !row.Listed() {
		t.Errorf("what was made of it: %+v, %v", row, err)
	}
	in, err := w.views.Outcome(t.Context(), settled)
	if err != nil || in.Outcome != outcomes.Forgotten {
		t.Errorf("the input is %s, %v", in.Outcome, err)
	}
	w.now = w.now.Add(10 * 24 * time.Hour)
	if err := w.eraser(0).finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if row, err := w.views.Row(t.Context(), w.rows["late"]); err != nil || !row.Listed() {
		t.Errorf("finish took what was made of what retention erased: %+v, %v", row, err)
	}
}
