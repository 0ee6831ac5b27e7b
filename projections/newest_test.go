package projections

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/testkit/follow"
)

// summaries is a session with stops and what was written of them, by names.
type summaries struct {
	*world
	t       *testing.T
	views   *Views
	session events.SessionID
	stops   map[string]events.Position
	ids     map[string]events.ID
	at      map[string]time.Time // when the stops happened
}

func newSummaries(t *testing.T) *summaries {
	w := newWorld(t)
	s := &summaries{world: w, t: t, session: w.open(0), stops: map[string]events.Position{}, ids: map[string]events.ID{}, at: map[string]time.Time{}}
	s.views = caughtUp(t, w)
	return s
}

// stop is a stop with work.
func (s *summaries) stop(name string) {
	r := s.say(s.session.Stream(), events.ID{}, events.AgentStopped{Cause: events.StopDone, Work: 1})[0]
	s.stops[name], s.at[name] = r.Position, r.OccurredAt
}

// sum writes a summary of a stop. It is dated by that, whenever it is written.
func (s *summaries) sum(name, stop string, claims ...events.Claim) {
	s.t.Helper()
	turn := s.start(s.session, events.TurnSummary, s.stops[stop])
	made := s.summary(turn)
	made.Request, made.Claims = name, claims
	s.ids[name] = made.Summary
	s.now = s.now.Add(time.Second)
	drafts := []events.Draft{
		{ID: s.id(), OccurredAt: s.now, Correlation: turn.id, Event: received(turn)},
		{ID: s.id(), OccurredAt: s.at[stop], Correlation: turn.id, Event: made},
	}
	if _, err := eventlog.AppendEnd(s.t.Context(), s.log, s.session.Stream(), drafts...); err != nil {
		s.t.Fatal(err)
	}
}

// stands checks which summaries are listed, and by which every other one that is there is superseded.
func (s *summaries) stands(what string, want ...string) {
	s.t.Helper()
	follow.MustCatchUp(s.t, s.views)
	var got []string
	for _, row := range mustRecent(s.t, s.views, rows.RecentFilter{Kinds: []rows.Kind{rows.Summary}}) {
		got = append(got, row.Request)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	of, err := s.views.RowsOf(s.t.Context(), s.session, rows.Summary)
	if err != nil || len(of) != len(want) {
		s.t.Errorf("%s: %d of the session are listed, %v, want %d", what, len(of), err, len(want))
	}
}

func (s *summaries) supersededBy(name, by string) {
	s.t.Helper()
	if row := mustRow(s.t, s.views, s.ids[name]); row.SupersededBy != s.ids[by] || row.Superseded != (by != "") || row.Request != name {
		s.t.Errorf("%s is superseded by %s, want by %s", name, row.SupersededBy, s.ids[by])
	}
}

func (s *summaries) forgetRow(name string) {
	s.t.Helper()
	s.forget(true, []events.Position{mustRow(s.t, s.views, s.ids[name]).Position}, s.ids[name])
}

func TestTheNewestSummaryStands(t *testing.T) {
	t.Parallel()
	s := newSummaries(t)
	s.stop("first")
	s.stop("second")
	s.stop("third")
	s.sum("1", "first")
	s.stands("alone", "1")
	s.sum("3", "third")
	s.stands("a newer one", "3")
	s.sum("2", "second")
	s.stands("one that is written late", "3")
	s.supersededBy("1", "3")
	s.supersededBy("2", "3")
	s.supersededBy("3", "")

	older, newer, err := s.views.Replacements(t.Context(), s.ids["3"])
	if err != nil || len(older) != 2 || len(newer) != 0 {
		t.Errorf("the newest took the place of %d rows, %d its own, %v, want 2 and 0", len(older), len(newer), err)
	}
	older, newer, err = s.views.Replacements(t.Context(), s.ids["1"])
	if err != nil || len(older) != 0 || len(newer) != 1 || newer[0].ID != s.ids["3"] {
		t.Errorf("the oldest took the place of %d rows, and its own was taken by %v, %v", len(older), newer, err)
	}

	s.sum("3 again", "third")
	s.stands("observed again", "3 again")
	s.supersededBy("2", "3 again")
	s.forgetRow("3 again")
	s.stands("forgotten, and the one it replaced was observed again", "2")
	s.supersededBy("1", "2")
	s.supersededBy("2", "")
	s.forgetRow("2")
	s.stands("forgotten too", "1")
}

func TestOtherSessionsKeepTheirSummaries(t *testing.T) {
	t.Parallel()
	s := newSummaries(t)
	s.stop("first")
	s.sum("1", "first")
	s.session = s.open(1)
	s.stop("other")
	s.sum("other", "other")
	follow.MustCatchUp(t, s.views)
	if got := mustRecent(t, s.views, rows.RecentFilter{Kinds: []rows.Kind{rows.Summary}}); len(got) != 2 {
		t.Errorf("%d summaries are listed, want one a session", len(got))
	}
}

// TestAPersonsWordOnASummary: what a person put in the place of the newest summary, or took back, brings no older one back.
func TestAPersonsWordOnASummary(t *testing.T) {
	t.Parallel()
	s := newSummaries(t)
	s.stop("first")
	s.stop("second")
	s.sum("1", "first")
	s.sum("2", "second")
	hand := func(by events.ID) {
		s.say(events.Daemon, events.ID{}, events.MemorySuperseded{Memory: s.ids["2"], By: by})
	}
	hand(s.ids["2"])
	s.stands("taken back")
	hand(events.ID{})
	s.stands("undone", "2")
	hand(events.ID{7})
	s.stands("corrected")
	s.supersededBy("1", "2")
	s.stop("third")
	s.sum("3", "third")
	s.stands("a newer one", "3")
	hand(events.ID{})
	s.stands("undone behind a newer one", "3")
	s.supersededBy("2", "3")
}

func TestAFlaggedSummaryYields(t *testing.T) {
	t.Parallel()
	s := newSummaries(t)
	absent := events.Claim{Kind: "commit", Value: "abc1234", Verdict: events.Absent}
	s.stop("first")
	s.stop("second")
	s.sum("flagged", "first", absent)
	s.stands("alone", "flagged")
	s.sum("sound", "second")
	s.stands("a sound one", "sound")
	s.stop("third")
	s.sum("flagged too", "third", absent)
	s.stands("a newer one that is flagged", "sound")
	absent.Verdict = events.Verified
	s.say(s.session.Stream(), events.ID{}, events.ClaimChecked{Subject: s.ids["flagged too"], Claim: absent})
	s.stands("and was verified later", "flagged too")
}

// TestImportedSummariesStandBeside: each is of one request.
func TestImportedSummariesStandBeside(t *testing.T) {
	t.Parallel()
	s := newSummaries(t)
	for _, name := range []string{"a", "b"} {
		s.say(s.session.Stream(), events.ID{}, events.SummaryParsed{Summary: s.id(), Request: name, Source: "claude-mem"})
	}
	s.stop("first")
	s.sum("1", "first")
	s.stands("imported", "1", "b", "a")
}

func TestTheNewestSummaryAsOf(t *testing.T) {
	t.Parallel()
	s := newSummaries(t)
	s.stop("first")
	s.stop("second")
	s.sum("1", "first")
	one := s.now
	follow.MustCatchUp(t, s.views)
	at := mustRow(t, s.views, s.ids["1"]).Position
	s.sum("2", "second")
	s.sum("2 again", "second")
	follow.MustCatchUp(t, s.views)
	second := mustRow(t, s.views, s.ids["2"]).Position
	for _, c := range []struct {
		name   string
		at     events.Position
		stands string
	}{{"1", at, "1"}, {"2", second, "2"}, {"2 again", s.views.Position(), "2 again"}} {
		got, err := s.views.RowsAsOf(t.Context(), c.at, one.Add(time.Hour), s.ids["1"], s.ids["2"], s.ids["2 again"])
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range got {
			if row.Position <= c.at && row.Listed() != (row.Request == c.stands) {
				t.Errorf("as of %s: %s is listed: %t, superseded by %s", c.name, row.Request, row.Listed(), row.SupersededBy)
			}
		}
	}
}

// A session whose summaries are forgotten at once is looked through for the newest once, not once for each of them.
func TestForgettingAllSummariesIsLinear(t *testing.T) {
	t.Parallel()
	took := map[int]time.Duration{}
	for _, n := range []int{100, 800} {
		s := newSummaries(t)
		var ids []events.ID
		for i := range n {
			name := strconv.Itoa(i)
			s.stop(name)
			s.sum(name, name)
			ids = append(ids, s.ids[name])
		}
		follow.MustCatchUp(t, s.views)
		s.say(s.session.Stream(), events.ID{}, events.MemoryForgotten{IDs: ids})
		began := time.Now()
		s.stands("all forgotten")
		took[n] = time.Since(began)
	}
	if took[800] > 40*took[100] && took[800] > 2*time.Second {
		t.Errorf("800 took %v, 100 took %v", took[800], took[100])
	}
}

// TestACorrectionOfASummaryStays when its stop is summed up once more.
func TestACorrectionOfASummaryStays(t *testing.T) {
	t.Parallel()
	s := newSummaries(t)
	s.stop("first")
	s.sum("1", "first")
	s.say(events.Daemon, events.ID{}, events.MemorySuperseded{Memory: s.ids["1"], By: events.ID{7}})
	s.sum("again", "first")
	s.stands("summed up once more")
}
