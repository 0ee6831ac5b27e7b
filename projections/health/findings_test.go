package health

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// noon is the present of these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func earlier(d time.Duration) time.Time { return noon.Add(-d) }

func streak(unusable, blank int64) Streak {
	return Streak{
		Provider: "anthropic", Model: "small", Unusable: unusable, Blank: blank,
		FirstAt: earlier(5 * time.Hour), KeptAt: earlier(6 * time.Hour), LastAt: earlier(10 * time.Minute),
	}
}

func pauseOf(c events.FailureClass, age, left time.Duration) Report {
	return Report{Pauses: []Pause{{Provider: "anthropic", Class: c, Since: earlier(age), At: earlier(min(age, time.Minute)), Until: noon.Add(left), Probe: 3}}}
}

func quarantineFor(left time.Duration) Report {
	return Report{Quarantines: []Quarantine{{Provider: "anthropic", Model: "small", Since: earlier(3 * time.Hour), At: earlier(2 * time.Minute), Until: noon.Add(left)}}}
}

// once is h with every pause the first.
func once(h Report) Report {
	for i := range h.Pauses {
		h.Pauses[i].Probe = 1
	}
	return h
}

// tried is h with everything in it being tried so.
func tried(h Report, t Trial) Report {
	for i := range h.Pauses {
		h.Pauses[i].Trial = t
	}
	for i := range h.Quarantines {
		h.Quarantines[i].Trial = t
	}
	return h
}

func TestFindings(t *testing.T) {
	t.Parallel()
	never := streak(20, 0)
	never.KeptAt = time.Time{}
	yielding := func(kept, dropped, skipped int64) Report {
		return Report{Since: earlier(24 * time.Hour), Streaks: []Streak{streak(3, 0)}, Models: []Model{{Provider: "anthropic", Model: "small", Count: Count{
			Kept: kept, Dropped: map[string]int64{"prose/no_xml": dropped}, Skipped: map[string]int64{events.ReasonSkipSummary: skipped},
		}}}}
	}
	for _, c := range []struct {
		name     string
		h        Report
		what     FindingKind // empty: nothing
		degraded bool
		words    []string // of what it says and of what to do
	}{
		{name: "nothing known"},
		{name: "one answer too few", h: Report{Streaks: []Streak{streak(DegradedUnusable-1, 0)}}},
		{
			name: "unusable answers", h: Report{Streaks: []Streak{streak(DegradedUnusable, 0)}}, what: FindUnusable, degraded: true,
			words: []string{"the last 20 answers of small (anthropic)", "none was kept since 06:00 (6 h ago)", "last answer 10 min ago", "another model", "cmemd reobserve --dropped"},
		},
		{name: "none was ever kept", h: Report{Streaks: []Streak{never}}, what: FindUnusable, degraded: true, words: []string{"none was ever kept, the first came 5 h ago"}},
		{
			name: "the yield is named", what: FindUnusable, degraded: true, words: []string{"(yield of the last day 20 %)"},
			h: Report{Streaks: []Streak{streak(40, 0)}, Models: []Model{{Provider: "anthropic", Model: "small", Count: Count{
				Kept: 10, Dropped: map[string]int64{"prose/no_xml": 40},
			}}}},
		},
		{name: "one blank too few", h: Report{Streaks: []Streak{streak(0, DegradedBlank-1)}}},
		{
			name: "blank answers", h: Report{Streaks: []Streak{streak(0, DegradedBlank)}}, what: FindBlank, degraded: true,
			words: []string{"50 blank answers of small (anthropic)", "an edit, a commit or a failed test", "last answer 10 min ago", "cmemd reobserve --reason empty --since 2026-03-01T06:00:00Z"},
		},
		{name: "somebody chose another model", h: Report{Streaks: []Streak{
			streak(90, 90), {Provider: "anthropic", Model: "large", KeptAt: earlier(9 * time.Minute), LastAt: earlier(9 * time.Minute)},
		}}},
		{name: "another model kept something before", what: FindUnusable, degraded: true, h: Report{Streaks: []Streak{
			streak(90, 0), {Provider: "anthropic", Model: "large", KeptAt: earlier(time.Hour), LastAt: earlier(time.Hour)},
		}}},
		{
			name: "the quota is used up", h: pauseOf(events.FailLimit, time.Minute, 26*time.Hour), what: FindHeld,
			words: []string{"anthropic is left alone since 11:59 (60 s ago) (limit)", "tried 3 times", "tried again at 2026-03-02 14:00 (in 26 h)", "another provider than anthropic"},
		},
		{name: "no login", h: pauseOf(events.FailAuth, time.Minute, time.Minute), what: FindHeld, words: []string{"log in to anthropic"}},
		{name: "no money", h: pauseOf(events.FailBilling, time.Minute, time.Minute), what: FindHeld, words: []string{"the bill of anthropic"}},
		{name: "no client", h: pauseOf(events.FailSetup, time.Minute, time.Minute), what: FindHeld, words: []string{"install or configure anthropic"}},
		{name: "overload passes", h: pauseOf(events.FailOverload, DegradedHold, time.Minute)},
		{name: "it refuses whatever it is asked", h: pauseOf(events.FailRefused, time.Minute, time.Minute), what: FindHeld, words: []string{"(refused)", "tried 3 times", "says of anthropic"}},
		{name: "and the same for answers that are cut", h: pauseOf(events.FailTruncated, time.Minute, time.Minute), what: FindHeld, words: []string{"answered none"}},
		{name: "one bad input may have done that", h: once(pauseOf(events.FailRefused, time.Minute, time.Minute))},
		{name: "an hour is not longer than one", h: pauseOf(events.FailLimit, DegradedHold, time.Minute), what: FindHeld},
		{name: "longer than an hour", h: pauseOf(events.FailOverload, DegradedHold+time.Millisecond, time.Minute), what: FindHeld, degraded: true, words: []string{"since 10:59"}},
		{name: "lost connections", h: pauseOf(events.FailTransport, 2*time.Hour, time.Minute), what: FindHeld, degraded: true, words: []string{"can be reached"}},
		{name: "the reset is now", h: pauseOf(events.FailLimit, 5*time.Hour, 0), what: FindHeld, degraded: true, words: []string{"tried 3 times, the next turn tries it"}},
		{name: "it failed again a second ago", h: pauseOf(events.FailAuth, 5*time.Hour, 2*time.Second), what: FindHeld, degraded: true, words: []string{"tried again at 12:00 (in 2 s)"}},
		{name: "a turn may not have begun yet", h: pauseOf(events.FailAuth, 5*time.Hour, time.Second-probeGrace), what: FindHeld, degraded: true},
		{name: "nothing tried it for as long as a turn takes", h: pauseOf(events.FailAuth, 5*time.Hour, -probeGrace)},
		{name: "the reset is past", h: pauseOf(events.FailAuth, 5*time.Hour, -time.Hour)},
		{
			name: "a turn tries it, however long", h: tried(pauseOf(events.FailAuth, 5*time.Hour, -time.Hour), Trial{Turn: events.ID{1}}), what: FindHeld, degraded: true,
			words: []string{"anthropic is left alone since 07:00 (5 h ago) (auth), tried 3 times, being tried now", "log in"},
		},
		{name: "a turn that tried it failed", h: tried(pauseOf(events.FailAuth, 5*time.Hour, -time.Hour), Trial{Ended: earlier(probeGrace - time.Second)}), what: FindHeld, degraded: true},
		{name: "that is long ago", h: tried(pauseOf(events.FailAuth, 5*time.Hour, -time.Hour), Trial{Ended: earlier(probeGrace)})},
		{name: "it was answered", h: tried(pauseOf(events.FailAuth, 5*time.Hour, -time.Second), Trial{Answered: true})},
		{name: "it was answered, and another turn is under way", h: tried(pauseOf(events.FailAuth, 5*time.Hour, -time.Second), Trial{Answered: true, Turn: events.ID{1}})},
		{name: "written under a wrong clock", h: pauseOf(events.FailLimit, 5*time.Hour, policy.MaxReset+time.Second)},
		{name: "as long as may be", h: pauseOf(events.FailLimit, time.Minute, policy.MaxReset), what: FindHeld},
		{
			name: "a quarantine", h: quarantineFor(time.Minute), what: FindQuarantined, degraded: true,
			words: []string{"the observer of 1 session is stopped since 09:00 (3 h ago)", "small (anthropic)", "last crash 2 min ago", "tried again at 12:01 (in 60 s)"},
		},
		{
			name: "quarantines of one model are one", what: FindQuarantined, degraded: true, words: []string{"the observers of 2 sessions"},
			h: Report{Quarantines: append(quarantineFor(time.Minute).Quarantines, quarantineFor(time.Hour).Quarantines...)},
		},
		{name: "a quarantine whose time is up", h: quarantineFor(0), what: FindQuarantined, degraded: true, words: []string{"the next turn tries it"}},
		{name: "a quarantine that only waits for work", h: quarantineFor(-probeGrace)},
		{name: "a quarantine that is tried", h: tried(quarantineFor(-time.Hour), Trial{Turn: events.ID{1}}), what: FindQuarantined, degraded: true, words: []string{"what happens is kept; being tried now"}},
		{name: "a quarantine that was answered", h: tried(quarantineFor(-time.Hour), Trial{Answered: true})},
		{
			name: "the first of several that is tried", what: FindQuarantined, degraded: true, words: []string{"the observers of 2 sessions", "being tried now"},
			h: Report{Quarantines: append(quarantineFor(time.Hour).Quarantines, tried(quarantineFor(-time.Hour), Trial{Turn: events.ID{1}}).Quarantines...)},
		},
		{
			name: "capturing only", h: Report{Degraded: "<script>", DegradedAt: earlier(48 * time.Hour)}, what: FindCaptureOnly, degraded: true,
			words: []string{"only captures since 2026-02-27 12:00 (2 days ago)"},
		},
		{name: "low yield", h: yielding(7, 13, 0), what: FindLowYield, words: []string{"only 7 of 20 answers of small (anthropic)"}},
		{name: "not so low", h: yielding(8, 12, 0)},
		{name: "few answers say little", h: yielding(0, 19, 0)},
		{name: "one that says that there is nothing does its job", h: yielding(1, 10, 500)},
		{name: "also where nothing else ever comes: yield 0 %", h: yielding(0, 0, 40)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.h.Findings(noon)
			if c.what == "" {
				if len(got) > 0 {
					t.Fatalf("got %+v, want nothing", got)
				}
				return
			}
			if len(got) != 1 || got[0].What != c.what || got[0].Degraded != c.degraded {
				t.Fatalf("got %+v, want one %s, degraded %t", got, c.what, c.degraded)
			}
			for _, w := range c.words {
				if !strings.Contains(got[0].Says+"\n"+got[0].Do, w) {
					t.Errorf("got %q, %q; want %q in it", got[0].Says, got[0].Do, w)
				}
			}
			if got[0].Since.IsZero() || got[0].At.IsZero() || got[0].Do == "" {
				t.Errorf("without a beginning, an age or advice: %+v", got[0])
			}
		})
	}
}

// TestFindingsInOrder: what counts as degraded comes before what is only worth knowing, and low yield is not told of a
// model of which worse is told.
func TestFindingsInOrder(t *testing.T) {
	t.Parallel()
	h := quarantineFor(time.Hour)
	h.Degraded, h.DegradedAt = "3 quarantined", earlier(time.Hour)
	h.Pauses = pauseOf(events.FailLimit, time.Minute, time.Hour).Pauses
	h.Streaks = []Streak{streak(20, 50)}
	h.Models = []Model{{Provider: "anthropic", Model: "small", Count: Count{Dropped: map[string]int64{"prose/no_xml": 30}}}}
	var got []string
	for _, f := range h.Findings(noon) {
		got = append(got, string(f.What))
	}
	if want := "capture_only unusable blank quarantined held"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestFindingsQuoteNobody: a reason in a daemon's record, and whatever else is text, stays out of what is told.
func TestFindingsQuoteNobody(t *testing.T) {
	t.Parallel()
	h := quarantineFor(time.Hour)
	h.Quarantines[0].Cause = "canary"
	h.Degraded, h.DegradedAt = "canary", noon
	h.Streaks = []Streak{streak(90, 90)}
	h.Models = []Model{{Provider: "anthropic", Model: "small", Count: Count{
		Dropped: map[string]int64{"canary/canary": 30}, Failures: map[string]int64{"canary": 3}, Skipped: map[string]int64{"canary": 3},
	}}}
	for _, f := range h.Findings(noon) {
		if strings.Contains(f.Says+f.Do, "canary") {
			t.Errorf("got %+v", f)
		}
	}
}

func TestRoughly(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 119 * time.Second: "119 s", 2 * time.Minute: "2 min", 119 * time.Minute: "119 min",
		2 * time.Hour: "2 h", 47*time.Hour + 59*time.Minute: "47 h", 48 * time.Hour: "2 days", 1000 * time.Hour: "41 days",
	} {
		if got := roughly(d); got != want {
			t.Errorf("%s: got %q, want %q", d, got, want)
		}
	}
	if got := agoWhen(noon.Add(time.Hour), noon); got != "just now" {
		t.Errorf("a time ahead: got %q", got)
	}
}
