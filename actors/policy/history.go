package policy

import (
	"math"
	"time"
)

// forgetAfter is how long after a success earlier restarts no longer count. It is the figure of claude-mem's guard of
// restarts, whose rules the otp policies take over with a closed window.
const forgetAfter = 5 * time.Minute

// history is what is remembered of an observer's restarts.
type history struct {
	times       []time.Time // ascending
	inARow      int         // restarts since the last success
	lastSuccess time.Time   // the last one that may still end in forgetting; zero: none
}

// succeed notes a parsed output.
func (h *history) succeed(now time.Time) { h.inARow, h.lastSuccess = 0, now }

// countRestart counts a restart at now and returns why it is one too many, or "". forgetAfter or longer after a success the
// restarts up to now are forgotten, once; those in a row are not.
func (h *history) countRestart(limits Restarts, now time.Time) (trip string) {
	if !h.lastSuccess.IsZero() && now.Sub(h.lastSuccess) >= forgetAfter {
		h.times, h.lastSuccess = nil, time.Time{}
	}
	h.times = withinWindow(h.times, now, limits.Window)
	_, trip = limits.Decide(h.times, h.inARow, now)
	h.times = append(h.times, now)
	h.inARow++
	return trip
}

// windowAlone is r without its limit of restarts in a row.
func (r Restarts) windowAlone() Restarts {
	r.MaxConsecutive = math.MaxInt
	return r
}
