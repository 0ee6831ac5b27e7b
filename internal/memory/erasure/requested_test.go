package erasure

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
)

// TestAsked: what an agent asks to forget stays in the log whole until a person approves; then it goes with what was made of it since.
func TestAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claims(w)
	w.caughtUp()
	before := w.left()
	asked, err := w.Ask(t.Context(), Request{Query: "tool of naming"}, events.WriterAgent)
	if err != nil {
		t.Fatal(err)
	}
	if row, err := w.views.Row(t.Context(), w.rows["naming"]); err != nil || row.Listed() {
		t.Errorf("the row is shown after the request was answered, %v", err)
	}
	if diff := cmp.Diff(before, w.left()); diff != "" || w.purged.Load() != 0 {
		t.Errorf("asking erased something (-before +after):\n%s", diff)
	}
	if asked.Records != 5 || !slices.Equal(asked.Rows, []events.ID{w.rows["naming"]}) {
		t.Errorf("asked %+v, want 5 records and the one row", asked)
	}
	open, err := w.Requests(t.Context())
	if diff := cmp.Diff([]Requested{asked}, open); diff != "" || err != nil || w.Status().Requests != 1 {
		t.Fatalf("open, %v, %d counted (-asked +open):\n%s", err, w.Status().Requests, diff)
	}
	w.look("claims", "naming", looked(events.Verified, "made since"))
	w.caughtUp()
	w.forget(Request{Positions: open[0].Positions})
	if left := strings.Join(w.left(), "\n"); strings.Contains(left, "naming") || strings.Contains(left, "made since") || !strings.Contains(left, "beside") {
		t.Errorf("left:\n%s", left)
	}
	if _, err := w.Settle(t.Context(), asked.ID, events.SettleApproved, events.WriterPerson); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Settle(t.Context(), asked.ID, events.SettleRefused, events.WriterPerson); !errors.Is(err, ErrNoRequest) {
		t.Errorf("settled twice: %v", err)
	}
	if open, err := w.Requests(t.Context()); err != nil || len(open) != 0 || w.Status().Requests != 0 {
		t.Errorf("open after all: %+v, %v", open, err)
	}
	w.verify()
}

// TestAskedForNothing: a request that nothing fits is no request.
func TestAskedForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claims(w)
	w.caughtUp()
	asked, err := w.Ask(t.Context(), Request{Query: "nobody said this"}, events.WriterAgent)
	open, _ := w.Requests(t.Context())
	if err != nil || asked.Records != 0 || len(open) != 0 {
		t.Errorf("asked %+v, %v; open %+v", asked, err, open)
	}
}

// TestAskedAgain: what is asked for already is not asked for twice, and requests have a bound.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claims(w)
	w.caughtUp()
	first, err := w.Ask(t.Context(), Request{Query: "tool of naming"}, events.WriterAgent)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.Ask(t.Context(), Request{IDs: []events.ID{w.rows["naming"]}}, events.WriterAgent)
	open, _ := w.Requests(t.Context())
	if again.ID != first.ID || err != nil || len(open) != 1 {
		t.Errorf("asked again: %+v, %v; open %+v", again, err, open)
	}
	for range maxRequests - 1 {
		w.say(events.Daemon, events.ID{}, events.ForgetRequested{Request: w.id(), Positions: []events.Position{1}, Writer: events.WriterAgent})
	}
	_, err = w.Ask(t.Context(), Request{IDs: []events.ID{w.rows["beside"]}}, events.WriterAgent)
	if !errors.Is(err, ErrManyRequests) {
		t.Errorf("one more: %v", err)
	}
}

// TestAskedAgainBeforeTheViewsFollow: who asks for what was asked for a moment before is not answered while its rows are still shown.
func TestAskedAgainBeforeTheViewsFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claims(w)
	w.caughtUp()
	first, err := w.Ask(t.Context(), Request{Query: "tool of naming"}, events.WriterAgent)
	if err != nil {
		t.Fatal(err)
	}
	behind, err := projections.Open(t.TempDir(), w.seen, engine.Config{}) // that nothing runs
	if err != nil {
		t.Fatal(err)
	}
	defer behind.Close()
	e := w.eraser(0)
	e.cfg.Views = behind
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if again, err := e.Ask(ctx, Request{Positions: first.Positions}, events.WriterAgent); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("asked again: %+v, %v, want that it waits", again, err)
	}
}

// TestRequestExpires: after thirty days without an answer the rows are shown again, and not a moment sooner.
func TestRequestExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claims(w)
	w.caughtUp()
	asked, err := w.Ask(t.Context(), Request{IDs: []events.ID{w.rows["naming"]}}, events.WriterAgent)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		days   int
		listed bool
	}{{0, false}, {requestDays - 1, false}, {1, true}, {1, true}} {
		w.now = w.now.AddDate(0, 0, step.days)
		if err := w.expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.caughtUp()
		row, err := w.views.Row(t.Context(), w.rows["naming"])
		if err != nil || row.Listed() != step.listed || (len(row.ForgetRequests) > 0) == step.listed {
			t.Errorf("%d days later: listed %t, asked by %v, %v, want listed %t", step.days, row.Listed(), row.ForgetRequests, err, step.listed)
		}
	}
	if _, err := w.Settle(t.Context(), asked.ID, events.SettleRefused, events.WriterPerson); !errors.Is(err, ErrNoRequest) {
		t.Errorf("settled behind its end: %v", err)
	}
}
