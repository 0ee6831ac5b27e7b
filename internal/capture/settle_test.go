package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// unfinished is a transcript whose last tool call no answer follows. It ends at 10:00:07 on 20 November 2026.
func unfinished(session string) []byte {
	text := bytes.TrimSuffix(transcript(session, 2), []byte("\n"))
	return text[:bytes.LastIndexByte(text, '\n')+1]
}

// at is a world's clock at a time of the day on which those transcripts end.
func at(hour, minute int) func(*Config) {
	return func(c *Config) {
		c.Now = func() time.Time { return time.Date(2026, 11, 20, hour, minute, 0, 0, time.UTC) }
	}
}

// ingestOf takes in a transcript and names its sessions as Settle wants them.
func (w *world) ingestOf(tb testing.TB, text []byte) []SilentSession {
	tb.Helper()
	got, err := w.client.Ingest(tb.Context(), "claude-code", "/t/s.jsonl", bytes.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	silent := make([]SilentSession, len(got.Sessions))
	for i, id := range got.Sessions {
		silent[i] = SilentSession{Session: id, Last: got.Last}
	}
	return silent
}

// settle settles sessions and returns how many were ended.
func (w *world) settle(tb testing.TB, silent []SilentSession) int {
	tb.Helper()
	got, err := w.pipeline.Settle(tb.Context(), silent)
	if err != nil {
		tb.Fatal(err)
	}
	return got.Ended
}

// TestSettle: work that a transcript leaves without an end is ended once, dated by it, and observed; what comes later counts as ever.
func TestSettle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, at(12, 0))
	text := unfinished("s")
	silent := w.ingestOf(t, text)
	if n := w.count(t, events.KindAgentStopped); n != 1 {
		t.Fatalf("%d stops before it is settled, want the one of the first answer", n)
	}
	if n := w.settle(t, silent); n != 1 {
		t.Fatalf("%d sessions were ended, want 1", n)
	}
	var stop events.Record
	for _, r := range w.records(t) {
		if r.Kind == events.KindAgentStopped {
			stop = r
		}
	}
	e, err := stop.Event()
	if s, _ := e.(events.AgentStopped); err != nil || s.Cause != events.StopIdle || s.Work != 1 || !stop.OccurredAt.Equal(time.Date(2026, 11, 20, 10, 0, 7, 0, time.UTC)) {
		t.Errorf("got %+v at %s, %v; want an idle stop of one tool use, when its result came", e, stop.OccurredAt, err)
	}
	eventually(t, "both answers and their work are observed", func() bool { return w.count(t, events.KindTurnReceived) == 4 })
	before := len(w.records(t))
	if again := w.ingestOf(t, text); w.settle(t, again) != 0 || len(w.records(t)) != before {
		t.Error("the same transcript led to more when it was taken in again")
	}
	more := strings.ReplaceAll(string(unfinished("s")), "toolu_s_", "toolu_later_")
	more = strings.ReplaceAll(more, "2026-11-20T10:", "2026-11-20T11:")
	if grown := w.ingestOf(t, append(text, more...)); w.settle(t, grown) != 1 {
		t.Error("what the session did later was not settled")
	}
	eventually(t, "what came later is observed", func() bool { return w.count(t, events.KindTurnReceived) == 8 })
}

// TestSettleLeavesLiveSessions: one is live while its last line is young, whatever it means, or its hooks report.
func TestSettleLeavesLiveSessions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		minute int
		line   string
		hook   bool
		want   int
	}{
		"its last line is young":         {29, "", false, 0},
		"old enough":                     {31, "", false, 1},
		"a line that means nothing here": {50, `{"type":"progress","sessionId":"s","timestamp":"2026-11-20T10:40:00Z"}` + "\n", false, 0},
		"its hooks report":               {50, "", true, 0},
	} {
		w := newWorld(t, at(10, c.minute))
		if c.hook {
			now := time.Date(2026, 11, 20, 10, c.minute, 0, 0, time.UTC)
			if _, err := w.client.Hook(t.Context(), "claude-code", hook("UserPromptSubmit", "s", map[string]any{"prompt": "go on"}), newID(), now); err != nil {
				t.Fatal(err)
			}
		}
		silent := w.ingestOf(t, append(unfinished("s"), c.line...))
		if got := w.settle(t, silent); got != c.want {
			t.Errorf("%s: %d were ended, want %d", name, got, c.want)
		}
	}
}

// TestOnlySettleEnds: neither the spool nor a transcript that is followed ends a session, however old what they bring is.
func TestOnlySettleEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) {
		at(12, 0)(c)
		before := &world{home: c.Home}
		for i := range 5 {
			before.spool(t, "claude-code", newID(), i, toolUse("spooled", fmt.Sprint("t", i), "ls", ""))
		}
	})
	eventually(t, "the spool is empty", func() bool { return w.waiting(t) == 0 })
	f, err := w.pipeline.Open("claude-code", "/t/s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Take(t.Context(), bytes.NewReader(unfinished("followed")), true); err != nil {
		t.Fatal(err)
	}
	if tools, stops := w.count(t, events.KindToolUsed), w.count(t, events.KindAgentStopped); tools != 7 || stops != 1 {
		t.Errorf("%d tool uses and %d stops, want 7 and the one that the transcript tells of", tools, stops)
	}
}

// TestSettleGoesOn: a session that is parked, or cannot be asked now, keeps no other waiting.
func TestSettleGoesOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want Settled
	}{
		{actors.ErrParked, Settled{Ended: 49, Refused: 1, Position: 7}},
		{actors.ErrStopped, Settled{Ended: 49, Position: 7}},
	} {
		cfg := config(t)
		parked := events.SessionIDOf("claude-code", "7")
		cfg.Sink = fakeSink(func(_ context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
			if _, ok := cmds[0].(session.Settle); !ok || id == parked {
				return actors.Receipt{}, c.err
			}
			return actors.Receipt{Position: 7}, nil
		})
		p, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var silent []SilentSession
		for i := range 50 {
			silent = append(silent, SilentSession{Session: events.SessionIDOf("claude-code", fmt.Sprint(i))})
		}
		got, err := p.Settle(t.Context(), silent)
		if got != c.want || errors.Is(err, c.err) != (c.want.Refused == 0) {
			t.Errorf("%v: got %+v, %v; want %+v", c.err, got, err, c.want)
		}
		if err := cfg.Log.Close(); err != nil {
			t.Error(err)
		}
	}
}
