package replay

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
)

// TestARecordingKnowsTheLimitsAndWhatSupervisionDid takes a log of three lives, two of which go by the same settings.
func TestARecordingKnowsTheLimitsAndWhatSupervisionDid(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.begin(map[string]string{"max_consecutive": "9"}) // before the first turn: another one follows
	s.begin(map[string]string{"max_consecutive": "1"})
	s.rules.Restarts.MaxConsecutive = 1
	s.work("a", 3)
	s.stop("a")
	for range 2 {
		s.mustStart("a")
		s.fail("a", events.FailCrash, 0)
	}
	s.begin(map[string]string{"max_consecutive": "1"})
	s.append("a", events.Draft{ID: s.id(), OccurredAt: s.now, Event: events.InputsDropped{
		Inputs: []events.Position{4, 5}, Reason: events.DropCrowded,
	}})
	s.begin(map[string]string{"max_consecutive": "1", "policy": "supervised", "max_unparseable": "2"})
	rec, err := Record(s.log.All(t.Context(), 1), Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{session.CauseCrash: 1}; !cmp.Equal(want, rec.Respawned) || rec.Quarantined != 1 {
		t.Errorf("got %v respawned, %d quarantined; want %v, 1", rec.Respawned, rec.Quarantined, want)
	}
	if want := map[events.DropReason]int{events.DropCrowded: 2}; !cmp.Equal(want, rec.GivenUp) {
		t.Errorf("got %v given up, want %v", rec.GivenUp, want)
	}
	if len(rec.Lives) != 2 || rec.Lives[0].Policy != policy.OTPHold || rec.Lives[1].Policy != policy.Supervised {
		t.Fatalf("got %+v, want the life of the turns, and the one that went by something else", rec.Lives)
	}
	last := rec.Lives[1].Settings
	if last.Restarts.MaxConsecutive != 1 || last.Unparseable.Max != 2 || last.Pause.First != time.Minute {
		t.Errorf("got %+v, want the limits that were in force", last)
	}
	none, err := Record(s.log.All(t.Context(), 1), Wanted{Selection: Selection{Sessions: []events.SessionID{sessionOf("other")}}})
	if err != nil || none.Quarantined != 0 || len(none.GivenUp)+len(none.Respawned) > 0 {
		t.Errorf("another session: got %+v, %v; want none of it", none, err)
	}
}

// TestShortLimitsAreReplayedAsRecorded replays what was recorded under limits that a daemon does not take any more, or never
// took: replay goes by what is on record.
func TestShortLimitsAreReplayedAsRecorded(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.begin(map[string]string{
		"policy": "supervised", "max_unparseable": "1", "unparseable_window": "1ms", "unparseable_every": "2ms",
	})
	s.work("a", 1)
	rec, err := Record(s.log.All(t.Context(), 1), Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	settings := rec.Lives[0].Settings
	if want := (policy.Unparseable{Max: 1, Window: time.Millisecond, Every: 2 * time.Millisecond}); settings.Unparseable != want {
		t.Fatalf("got %+v, want %+v", settings.Unparseable, want)
	}
	said := &Scenario{Events: []Event{said(0, "prose"), said(1, "prose"), said(2, "prose")}}
	r, err := Run(said, policy.Supervised, Options{Settings: settings})
	if err != nil || r.Respawns != 2 {
		t.Errorf("got %d respawns, %v; want one at once, and one 2 ms later", r.Respawns, err)
	}
}
