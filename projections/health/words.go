package health

import (
	"fmt"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
)

// usable counts the answers that parsed among those that were not blank. One that says in the agreed form that there is
// nothing to record did what was asked.
func (h Count) usable() (used, of int64) {
	used = h.Kept + h.Skipped[events.ReasonSkipSummary]
	of = used
	for reason, n := range h.Dropped {
		if !strings.HasPrefix(reason, "idle/") {
			of += n
		}
	}
	return used, of
}

// modelName is a provider's model for people.
func modelName(provider, model string) string {
	switch {
	case provider == "":
		return "an unknown provider"
	case model == "":
		return provider
	}
	return model + " (" + provider + ")"
}

// sinceWhen says when something began, and how long ago that is.
func sinceWhen(t, now time.Time) string {
	if t.IsZero() {
		return "for an unknown time"
	}
	return fmt.Sprintf("since %s (%s)", clockTime(t, now), agoWhen(t, now))
}

// atWhen says when something will be, and in how long.
func atWhen(t, now time.Time) string {
	return fmt.Sprintf("at %s (in %s)", clockTime(t, now), roughly(t.Sub(now)))
}

// clockTime is t in now's zone: the time alone on the same day.
func clockTime(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// agoWhen is how old t is at now. What lies ahead, as a clock that was set back has it, is now.
func agoWhen(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "at an unknown time"
	case d < time.Minute:
		return "just now"
	default:
		return roughly(d) + " ago"
	}
}

// roughly is a length of time in its greatest unit, cut down.
func roughly(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", max(d, 0)/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}
