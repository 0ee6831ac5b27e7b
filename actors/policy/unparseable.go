package policy

import (
	"cmp"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Unparseable says when outputs that did not parse earn a fresh generation. Zero fields mean the defaults. Only outputs
// with something in them are counted: a blank one is no sign of a broken observer.
type Unparseable struct {
	Max    int           // outputs within Window that earn it, the last one included. 0 means 5
	Window time.Duration // closed: an output exactly this old still counts. 0 means 60 s
	Every  time.Duration // the least time between two; exactly this long after is allowed. 0 means 10 min
}

// DefaultUnparseable are the limits where nobody says otherwise.
func DefaultUnparseable() Unparseable { return Unparseable{}.withDefaults() }

func (u Unparseable) withDefaults() Unparseable {
	u.Max = cmp.Or(u.Max, 5)
	u.Window = cmp.Or(u.Window, time.Minute)
	u.Every = cmp.Or(u.Every, 10*time.Minute)
	return u
}

// Limits is what u enforces, for the record of a decision.
func (u Unparseable) Limits() events.Limits {
	u = u.withDefaults()
	return events.Limits{Window: u.Window, Unparseable: u.Max, Every: u.Every}
}

// Decide counts an output at now that was not blank and did not parse, after those in earlier: the ones since a turn was
// parsed or a fresh generation earned, in any order, older than the window if need be. Respawn is whether it earns a fresh
// generation; lastRespawn is when the last one was earned, the zero time if none was. One that lies ahead was recorded by
// a clock that has been set back since, and counts as none.
func (u Unparseable) Decide(earlier []time.Time, lastRespawn, now time.Time) (counted int, respawn bool) {
	u = u.withDefaults()
	counted = 1 + within(earlier, now, u.Window)
	return counted, counted >= u.Max && (lastRespawn.IsZero() || lastRespawn.After(now) || now.Sub(lastRespawn) >= u.Every)
}

// within counts the times that are at most window old at now: OTP's supervisor counts a restart exactly one period old.
func within(times []time.Time, now time.Time, window time.Duration) (n int) {
	for _, t := range times {
		if now.Sub(t) <= window {
			n++
		}
	}
	return n
}
