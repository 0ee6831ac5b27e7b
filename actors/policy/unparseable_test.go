package policy

import (
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

func TestUnparseableOutputsAtTheirBoundaries(t *testing.T) {
	t.Parallel()
	ago := func(ds ...time.Duration) (times []time.Time) {
		for _, d := range ds {
			times = append(times, t0.Add(-d))
		}
		return times
	}
	second := time.Second
	recent := ago(4*second, 3*second, 2*second, second)
	for _, c := range []struct {
		name    string
		earlier []time.Time
		last    time.Duration // ago; 0: never
		counted int
		respawn bool
	}{
		{"the first", nil, 0, 1, false},
		{"the fourth", recent[1:], 0, 4, false},
		{"the fifth", recent, 0, 5, true},
		{"the oldest is exactly one window old", ago(time.Minute, 3*second, 2*second, second), 0, 5, true},
		{"the oldest is a millisecond younger", ago(time.Minute-time.Millisecond, 3*second, 2*second, second), 0, 5, true},
		{"the oldest is a millisecond older", ago(time.Minute+time.Millisecond, 3*second, 2*second, second), 0, 4, false},
		{"the last respawn is exactly long enough ago", recent, 10 * time.Minute, 5, true},
		{"a millisecond too short ago", recent, 10*time.Minute - time.Millisecond, 5, false},
		{"the last respawn is still ahead: the clock was set back", recent, -time.Millisecond, 5, true},
		{"a millisecond longer ago", recent, 10*time.Minute + time.Millisecond, 5, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var last time.Time
			if c.last != 0 {
				last = t0.Add(-c.last)
			}
			counted, respawn := Unparseable{}.Decide(c.earlier, last, t0)
			if counted != c.counted || respawn != c.respawn {
				t.Errorf("got %d counted, respawn %v; want %d, %v", counted, respawn, c.counted, c.respawn)
			}
		})
	}
}

func TestUnparseableLimitsAreThoseInForce(t *testing.T) {
	t.Parallel()
	want := events.Limits{Window: time.Minute, Unparseable: 5, Every: 10 * time.Minute}
	if got := (Unparseable{}).Limits(); got != want {
		t.Errorf("defaults: got %+v, want %+v", got, want)
	}
	own := Unparseable{Max: 2, Window: time.Second, Every: time.Hour}
	want = events.Limits{Window: time.Second, Unparseable: 2, Every: time.Hour}
	if got := own.Limits(); got != want {
		t.Errorf("own: got %+v, want %+v", got, want)
	}
	if _, respawn := own.Decide([]time.Time{t0.Add(-time.Second)}, time.Time{}, t0); !respawn {
		t.Error("two within the own window earn no fresh generation")
	}
}
