package server

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/replay"
)

// poisoned is a world in which an observer answered well, then several times with prose, then well again.
func poisoned(t *testing.T) *world {
	t.Helper()
	m := newMoody(say("kept"))
	w := moodyWorld(t, m, nil, nil)
	for i, step := range []func(){func() {}, func() { m.turn(prose()) }, func() {}, func() {}, func() {}, func() { m.turn(say("again")) }} {
		step()
		w.use(t, "s1", i+1)
		w.settled(t)
	}
	return w
}

// TestReplayOverTheAPI is what replay itself makes of the same log, folded, with what differs decision by decision.
func TestReplayOverTheAPI(t *testing.T) {
	t.Parallel()
	w := poisoned(t)
	progress := 0
	got, err := api.ReplayRoute.Call(t.Context(), w.client, api.ReplayRequest{}, func(api.Progress) { progress++ })
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(w.log.All(t.Context(), 1), replay.Wanted{Respawn: replay.AssumedRespawn()})
	if err != nil {
		t.Fatal(err)
	}
	want, err := replay.Compare(rec.Scenario, policy.Names(), replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen, live := 0, policy.Live()[0]
	for _, p := range got.Policies {
		for _, n := range p.Names {
			seen++
			r := want[n.Name]
			if p.Figures.Calls != r.Calls || p.Figures.LostBatches != r.LostBatches || p.Figures.WastedTokens != r.WastedTokens || p.Figures.Respawns != r.Respawns {
				t.Errorf("%s: got %+v, want %+v", n.Name, p.Figures, r)
			}
			differ := 0
			for i := range r.Decisions {
				if r.Decisions[i] != want[live].Decisions[i] {
					differ++
				}
			}
			if len(p.Differences)+p.More != differ || n.Words == "" || len(p.Strip) != replayPlaces {
				t.Errorf("%s differs in %d+%d decisions, want %d; its words are %q, its strip has %d letters", n.Name, len(p.Differences), p.More, differ, n.Words, len(p.Strip))
			}
		}
	}
	if seen != len(policy.Names()) || len(got.Policies) < 2 || len(got.Policies) == seen || got.Live != live {
		t.Errorf("%d policies in %d groups, live %s", seen, len(got.Policies), got.Live)
	}
	if !strings.Contains(got.Verdict, "would have") || !got.Proof.Holds || got.Proof.Checked == 0 || got.Events != len(rec.Scenario.Events) {
		t.Errorf("got %q, proof %+v, %d events", got.Verdict, got.Proof, got.Events)
	}
	d := got.Policies[0].Differences
	if len(d) == 0 || d[0].Turn == "" || d[0].Position == 0 {
		t.Errorf("the first policy differs in %+v", d)
	}
}

// TestReplayOfAStretch: a session, a time, some policies, with a page; what there is not is said.
func TestReplayOfAStretch(t *testing.T) {
	t.Parallel()
	w := poisoned(t)
	ask := func(q api.ReplayRequest) (api.Replayed, error) {
		return api.ReplayRoute.Call(t.Context(), w.client, q, nil)
	}
	got, err := ask(api.ReplayRequest{Sessions: []string{"s1"}, Policies: []policy.Name{policy.Ignore}, Report: true})
	if err != nil || !strings.HasPrefix(got.Report, "<!doctype html>") && !strings.HasPrefix(got.Report, "<!DOCTYPE html>") {
		t.Fatalf("%v, %.40q", err, got.Report)
	}
	names := 0
	for _, p := range got.Policies {
		names += len(p.Names)
	}
	if names != 2 { // the one in force is played in any case
		t.Errorf("%d policies were played", names)
	}
	for name, c := range map[string]struct {
		q    api.ReplayRequest
		want int
	}{
		"in the future": {api.ReplayRequest{Since: time.Now().Add(time.Hour)}, 404}, "no such session": {api.ReplayRequest{Sessions: []string{"nobody's"}}, 404},
		"no such policy": {api.ReplayRequest{Policies: []policy.Name{"x"}}, 400}, "until before since": {api.ReplayRequest{Since: time.Now(), Until: time.Now().Add(-time.Hour)}, 400},
	} {
		if _, err := ask(c.q); problem(t, err).Status != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReplaysAreBounded: one at a time, and none whose outputs do not fit; one that is given up ends.
func TestReplaysAreBounded(t *testing.T) {
	t.Parallel()
	w := poisoned(t)
	s := &replays{sources: &w.server.sources}
	s.playing.Lock()
	run, err := s.postReplay(t.Context(), api.ReplayRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), func(uint64, uint64) {}); problem(t, err).Type != api.ProblemBusy {
		t.Errorf("a second one: %v", err)
	}
	s.playing.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, func(uint64, uint64) {}); err == nil {
		t.Error("one that was given up goes on")
	}
	long := func(yield func(events.Record, error) bool) {
		r := events.Record{Header: events.Header{Kind: events.KindTurnReceived, RecordedAt: time.Now(), Size: 1 << 20}}
		for r.Position = 1; yield(r, nil); r.Position++ {
		}
	}
	n, failed := 0, error(nil)
	for _, err := range readFor(replay.Selection{}, iter.Seq2[events.Record, error](long), 1, func(uint64, uint64) {}) {
		n, failed = n+1, err
	}
	if n != maxOutputBytes>>20+1 || problem(t, failed).Status != 409 {
		t.Errorf("%d records were read, %v", n, failed)
	}
}
