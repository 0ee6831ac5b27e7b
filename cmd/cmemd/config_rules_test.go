package main

import (
	"testing"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// TestStandardRules: nobody has chosen supervised, and outputs that do not parse are dropped, and that is all.
func TestStandardRules(t *testing.T) {
	t.Parallel()
	if r := config.Standard().Rules(); r.Outputs != nil || r.HeldMaxInputs != 10_000 || r.HeldMaxAge.Hours() != 14*24 {
		t.Errorf("got %+v", r)
	}
}

// TestSupervisedReachesTheSessions plays prose to a daemon that was told to try a fresh observer after two.
func TestSupervisedReachesTheSessions(t *testing.T) {
	t.Parallel()
	w := newMatrixWorld(t, []string{`{"text": "Ready to observe.", "repeat": "forever"}`},
		`policy = "supervised"`, `max_unparseable = 2`, `unparseable_window = "5m"`, `unparseable_every = "720h"`)
	w.work("one", 1) // an observation, and a summary: the second earns a fresh observer, and is asked for once more
	w.awaitBalance(session.Balance{Dropped: 2})
	w.await("the fresh observer to be asked", func(api.Status) bool { return w.dropped() == 3 })
	w.work("one", 1)
	w.awaitBalance(session.Balance{Dropped: 4})
	all := w.end()
	checkCount[events.SessionRespawned](t, all, 1)
	for _, r := range of[events.SessionRespawned](all) {
		if r.Cause != "unparseable" || r.Limits.Unparseable != 2 || r.Counted.Unparseable != 2 || r.Delay != 0 {
			t.Errorf("got %+v, want it to say what was counted", r)
		}
	}
}

// dropped counts the outputs that have arrived and did not parse.
func (w *matrixWorld) dropped() int {
	w.t.Helper()
	read, err := api.RecordsRoute.Call(w.ctx, w.client, api.RecordsQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, r := range read.Records {
		if r.Kind == events.KindOutputDropped {
			n++
		}
	}
	return n
}

// TestHeldWorkOverTheSettingIsListed captures more, in the pause of a provider, than a session may hold.
func TestHeldWorkOverTheSettingIsListed(t *testing.T) {
	t.Parallel()
	w := newMatrixWorld(t, []string{
		`{"failure": {"class": "limit", "status": 429, "resets_in_ms": 3600000}, "repeat": "forever"}`}, `held_max_inputs = 100`)
	w.work("one", 110)
	st := w.await("what is too much to be given up", func(st api.Status) bool { return st.Inputs.Dropped > 0 })
	if st.Inputs.Pending < 100 {
		t.Errorf("got %s, want a hundred kept", terminal.BalanceLine(st.Inputs))
	}
	w.await("all of it", func(st api.Status) bool { return st.Inputs.Captured == 111 && st.Inputs.Pending == 100 })
	w.checkDropped(11, "", string(events.DropCrowded))
	all := w.end()
	checkCount[events.TurnFailed](t, all, 1)
}
