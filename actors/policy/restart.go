package policy

import (
	"cmp"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Restarts limits how often the observer of one session may be restarted. Zero fields mean the defaults.
type Restarts struct {
	Max            int           // restarts allowed in Window; one more trips. 0 means 10
	Window         time.Duration // closed: a restart exactly this old still counts. 0 means 60 s
	MaxConsecutive int           // restarts allowed without a parsed turn between them; one more trips. 0 means 5
	Base           time.Duration // the first delay. 0 means 500 ms
	Cap            time.Duration // the longest delay. 0 means 30 s
}

// The causes of a trip.
const (
	TripIntensity   = "intensity"   // too many restarts in the window
	TripConsecutive = "consecutive" // too many in a row without a parsed turn
	TripProbe       = "probe"       // the probe of a quarantine crashed
)

// Jitter is how far a restart delay strays from its nominal length, as a fraction to both sides, so that the
// sessions of one bad provider do not come back at the same instant.
const Jitter = 0.2

// DefaultRestarts are the limits where nobody says otherwise.
func DefaultRestarts() Restarts { return Restarts{}.withDefaults() }

func (r Restarts) withDefaults() Restarts {
	r.Max = cmp.Or(r.Max, 10)
	r.Window = cmp.Or(r.Window, time.Minute)
	r.MaxConsecutive = cmp.Or(r.MaxConsecutive, 5)
	r.Base = cmp.Or(r.Base, 500*time.Millisecond)
	r.Cap = cmp.Or(r.Cap, 30*time.Second)
	return r
}

// Limits is what r enforces, for the record of a decision.
func (r Restarts) Limits() events.Limits {
	r = r.withDefaults()
	return events.Limits{MaxRestarts: r.Max, Window: r.Window, MaxConsecutive: r.MaxConsecutive}
}

// Decide counts a restart at now after those in earlier (in any order) and after consecutive ones without a parsed turn
// between them. Trip is empty if it is allowed. The intensity is looked at first.
func (r Restarts) Decide(earlier []time.Time, consecutive int, now time.Time) (counted events.Counted, trip string) {
	r = r.withDefaults()
	counted = events.Counted{InWindow: 1 + within(earlier, now, r.Window), Consecutive: consecutive + 1}
	switch {
	case counted.InWindow > r.Max:
		return counted, TripIntensity
	case counted.Consecutive > r.MaxConsecutive:
		return counted, TripConsecutive
	}
	return counted, ""
}

// Delay is how long to wait before the nth restart in a row, n from 1: Base doubling to Cap, give or take Jitter. The
// same seed gives the same delay.
func (r Restarts) Delay(n int, seed uint64) time.Duration {
	r = r.withDefaults()
	d := Backoff{First: r.Base, Cap: r.Cap}.Nth(n)
	unit := float64(mix(seed)>>11) / (1 << 53) // in [0, 1)
	return time.Duration(float64(d) * (1 - Jitter + 2*Jitter*unit))
}

// Longest is the longest delay there is.
func (r Restarts) Longest() time.Duration {
	return time.Duration(float64(r.withDefaults().Cap) * (1 + Jitter))
}

// Backoff is a wait that doubles from First up to Cap.
type Backoff struct {
	First time.Duration
	Cap   time.Duration
}

// Nth is the nth wait, n from 1.
func (b Backoff) Nth(n int) time.Duration {
	d := b.First
	for ; n > 1 && d < b.Cap; n-- {
		d *= 2
	}
	return min(d, b.Cap)
}

// DefaultQuarantine is how long a session's observer rests before one probe turn.
func DefaultQuarantine() Backoff { return Backoff{First: time.Minute, Cap: time.Hour} }

// DefaultPause is how long a provider rests before one probe turn, where it did not say when it would answer again.
func DefaultPause() Backoff { return Backoff{First: time.Minute, Cap: 30 * time.Minute} }

// mix is the finalizer of SplitMix64: it spreads the bits of a seed that may be a counter or a time.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
