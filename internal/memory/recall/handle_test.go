package recall

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
)

// A handle names its row for ever: whatever is folded, superseded or built anew, and never another one.
func TestHandlesNameRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	prompt := w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "Fix the cart"})[0]
	first, again, summary, note := newID(), newID(), newID(), newID()
	recs := w.put(s.Stream(),
		events.ObservationParsed{Observation: first, Type: "bugfix", Title: "Cart fixed"},
		events.ObservationParsed{Observation: again, Type: "bugfix", Title: "Cart fixed"}, // folded into the first
		events.SummaryParsed{Summary: summary, Request: "Fix the cart"})
	saved := w.put(events.Daemon, events.MemorySaved{Memory: note, Text: "Tabs"}, events.MemorySuperseded{Memory: note, By: note})
	want := map[events.Position]events.ID{
		prompt.Place().Position: prompt.ID, recs[0].Place().Position: first, recs[1].Place().Position: again, recs[2].Place().Position: summary,
		saved[0].Place().Position: note,
	}
	check := func() {
		t.Helper()
		for p, id := range want {
			got, err := w.Show(t.Context(), fmt.Sprintf(" m%d", p))
			if err != nil || len(got) != 1 || got[0].ID != id || got[0].Handle().String() != fmt.Sprintf("m%d", p) {
				t.Errorf("m%d: got %+v, %v", p, got, err)
			}
		}
	}
	w.sync()
	check()
	views, err := projections.Open(t.TempDir(), w.log, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer views.Close()
	if err := views.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Recall.cfg.Views = views
	check()
	for _, p := range []events.Position{1, saved[1].Place().Position} {
		if _, err := w.Resolve(t.Context(), fmt.Sprintf("m%d", p)); !errors.Is(err, ErrNoMemory) {
			t.Errorf("m%d, which is no memory: %v", p, err)
		}
	}
	for text, want := range map[string]error{"m0": ErrBadID, "m": ErrBadID, "m-1": ErrBadID, "m999": ErrNotFound, "m18446744073709551615": ErrNotFound} {
		if _, err := w.Resolve(t.Context(), text); !errors.Is(err, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestHandlesOfWhatWasForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	rec := w.put(s.Stream(), events.ObservationParsed{Observation: newID(), Title: "Secret"})[0]
	prompt := w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "Secret"})[0]
	if err := w.log.Erase(t.Context(), rec.Position, prompt.Position); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Resolve(t.Context(), fmt.Sprintf("m%d", rec.Place().Position)); !errors.Is(err, ErrForgotten) {
		t.Errorf("an observation: %v", err)
	}
	if id, err := w.Resolve(t.Context(), fmt.Sprintf("m%d", prompt.Place().Position)); err != nil || id != prompt.ID {
		t.Errorf("a prompt, whose id its record keeps: %s, %v", id, err)
	}
}

// A log whose disk fails is no row that is not there.
func TestHandlesWhereTheLogFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("a", "shop")
	if err := w.own.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Resolve(t.Context(), "m1"); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
