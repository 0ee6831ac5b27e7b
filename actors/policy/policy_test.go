package policy

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestTheWindowIsClosed(t *testing.T) {
	t.Parallel()
	r := Restarts{Max: 2, Window: time.Minute, MaxConsecutive: 100}
	for _, c := range []struct {
		name string
		ago  time.Duration
		in   int
		trip string
	}{
		{"a restart one window old counts", time.Minute, 3, TripIntensity},
		{"a millisecond older is forgotten", time.Minute + time.Millisecond, 2, ""},
		{"a millisecond younger counts", time.Minute - time.Millisecond, 3, TripIntensity},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			counted, trip := r.Decide([]time.Time{t0.Add(-c.ago), t0.Add(-time.Second)}, 0, t0)
			if counted.InWindow != c.in || trip != c.trip {
				t.Errorf("got %d in the window, trip %q; want %d, %q", counted.InWindow, trip, c.in, c.trip)
			}
		})
	}
}

func TestDefaultsTripAtTheEleventhAndTheSixth(t *testing.T) {
	t.Parallel()
	var times []time.Time
	for range 9 {
		times = append(times, t0)
	}
	if _, trip := (Restarts{}).Decide(times, 0, t0); trip != "" {
		t.Errorf("the tenth in the window: got trip %q, want none", trip)
	}
	if _, trip := (Restarts{}).Decide(append(times, t0), 0, t0); trip != TripIntensity {
		t.Errorf("the eleventh in the window: got trip %q, want %q", trip, TripIntensity)
	}
	if _, trip := (Restarts{}).Decide(nil, 4, t0); trip != "" {
		t.Errorf("the fifth in a row: got trip %q, want none", trip)
	}
	if _, trip := (Restarts{}).Decide(nil, 5, t0); trip != TripConsecutive {
		t.Errorf("the sixth in a row: got trip %q, want %q", trip, TripConsecutive)
	}
}

func TestDelayDoublesToItsCapWithinTheJitter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		nominal := 30 * time.Second
		if n <= 6 {
			nominal = 500 * time.Millisecond << (n - 1)
		}
		d := (Restarts{}).Delay(n, seed)
		if d < nominal*8/10 || d > nominal*12/10 {
			t.Fatalf("delay %v is not within 20%% of %v", d, nominal)
		}
		if again := (Restarts{}).Delay(n, seed); again != d {
			t.Fatalf("the same seed gave %v and %v", d, again)
		}
	})
}

func TestJitterSpreads(t *testing.T) {
	t.Parallel()
	low, high := 0, 0
	for seed := range uint64(1000) {
		d := (Restarts{}).Delay(1, seed)
		if d < 450*time.Millisecond {
			low++
		}
		if d > 550*time.Millisecond {
			high++
		}
	}
	if low < 150 || high < 150 {
		t.Errorf("of 1,000 neighbouring seeds %d are below and %d above the middle half, want at least 150 each", low, high)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{
		1: time.Minute, 2: 2 * time.Minute, 6: 32 * time.Minute, 7: time.Hour, 8: time.Hour, 1000: time.Hour,
	} {
		if got := DefaultQuarantine().Nth(n); got != want {
			t.Errorf("quarantine %d: got %v, want %v", n, got, want)
		}
	}
	if got := DefaultPause().Nth(100); got != 30*time.Minute {
		t.Errorf("the longest pause: got %v, want 30m", got)
	}
}

// paused is a pause that was ruled at t0.
func paused(c events.FailureClass, wait time.Duration, probe, blamed int) Pause {
	return Pause{Class: c, Until: t0.Add(wait), Probe: probe, At: t0, Blamed: blamed}
}

func TestPause(t *testing.T) {
	t.Parallel()
	reset := t0.Add(3 * time.Hour)
	for _, c := range []struct {
		name   string
		before Pause
		class  events.FailureClass
		resets time.Time
		want   Pause
	}{
		{"the first", Pause{}, events.FailServer, time.Time{}, paused(events.FailServer, time.Minute, 1, 0)},
		{"the second doubles", paused(events.FailServer, 0, 1, 0), events.FailTimeout, time.Time{}, paused(events.FailTimeout, 2*time.Minute, 2, 0)},
		{"a reset time is believed", Pause{}, events.FailLimit, reset, paused(events.FailLimit, 3*time.Hour, 1, 0)},
		{"a reset time that is past is not", Pause{}, events.FailLimit, t0, paused(events.FailLimit, time.Minute, 1, 0)},
		{"the turn's own fault pauses nobody", Pause{}, events.FailRefused, reset, Pause{Blamed: 1}},
		{"nor does the second", Pause{Blamed: 1}, events.FailTruncated, time.Time{}, Pause{Blamed: 2}},
		{"the third in a row does", Pause{Blamed: 2}, events.FailRefused, time.Time{}, paused(events.FailRefused, time.Minute, 1, 3)},
		{"and the next", paused(events.FailRefused, 0, 1, 3), events.FailOverflow, time.Time{}, paused(events.FailOverflow, 2*time.Minute, 2, 4)},
		{"other failures between do not end the row", Pause{Blamed: 2}, events.FailServer, time.Time{}, paused(events.FailServer, time.Minute, 1, 2)},
		{"an answer does", Pause{Blamed: 2}.Answered(), events.FailRefused, time.Time{}, Pause{Blamed: 1}},
		{"a crash pauses nobody", Pause{}, events.FailCrash, reset, Pause{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.before.After(c.class, c.resets, t0, DefaultPause()); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestOnlyAPauseThatTurnsAreBlamedForLetsOthersTry: what a quota or a server keeps back, it keeps back for all.
func TestOnlyAPauseThatTurnsAreBlamedForLetsOthersTry(t *testing.T) {
	t.Parallel()
	for _, c := range events.FailureClasses() {
		want := c == events.FailRefused || c == events.FailOverflow || c == events.FailTruncated
		if got := paused(c, time.Minute, 1, 3).Blames(); got != want {
			t.Errorf("%s: %t, want %t", c, got, want)
		}
	}
	if (Pause{Class: events.FailRefused, Blamed: 2}).Blames() {
		t.Error("an open provider")
	}
}

func TestAProbeIsDueAtTheInstantAPauseEnds(t *testing.T) {
	t.Parallel()
	p := Pause{Class: events.FailLimit, Until: t0, Probe: 1}
	for d, want := range map[time.Duration]bool{-time.Millisecond: false, 0: true, time.Millisecond: true} {
		if got := p.ProbeDue(t0.Add(d)); got != want {
			t.Errorf("%v after the end: got %v, want %v", d, got, want)
		}
	}
	if (Pause{}).ProbeDue(t0) || (Pause{}).Paused() {
		t.Error("an open provider is paused")
	}
}

func TestClampBelievesAtMostEightDays(t *testing.T) {
	t.Parallel()
	if got := Clamp(t0.Add(365*24*time.Hour), t0); got != t0.Add(MaxReset) {
		t.Errorf("got %v, want %v", got, t0.Add(MaxReset))
	}
	if got := Clamp(t0.Add(time.Hour), t0); got != t0.Add(time.Hour) {
		t.Errorf("got %v, want the time given", got)
	}
}

func TestAResetTimeAMomentAheadDoublesItsFloor(t *testing.T) {
	t.Parallel()
	var p Pause
	now := t0
	for n := range 8 {
		p = p.After(events.FailLimit, now.Add(10*time.Millisecond), now, DefaultPause())
		if got, want := p.Until.Sub(now), time.Second<<n; got != want {
			t.Errorf("pause %d: got %v, want %v", n+1, got, want)
		}
		now = p.Until
	}
}

func TestAPauseFromAClockSetBackIsDue(t *testing.T) {
	t.Parallel()
	p := Pause{Class: events.FailLimit, Until: t0.Add(365 * 24 * time.Hour), Probe: 1}
	if !p.ProbeDue(t0) {
		t.Error("a pause that ends in a year keeps a provider closed: no limit lasts that long")
	}
	p = Pause{}.After(events.FailServer, time.Time{}, t0, DefaultPause())
	for d, rests := range map[time.Duration]bool{
		-time.Hour: false, -time.Millisecond: false, 0: true, time.Minute - time.Millisecond: true, time.Minute: false,
	} {
		if got := p.Rests(t0.Add(d)); got != rests {
			t.Errorf("a minute's pause, seen by a clock %v after its ruling: rests %v, want %v", d, got, rests)
		}
	}
}
