package provider

import (
	"fmt"
	"time"

	"github.com/cmemd/cmemd/events"
)

const (
	// degradeAfter quarantines of different sessions within degradeWindow mean that the fault is not the sessions'.
	degradeAfter  = 3
	degradeWindow = 10 * time.Minute
)

// Quarantines are when sessions were quarantined that have not been released since.
type Quarantines map[events.SessionID]time.Time

// Degrade returns why the daemon is to capture only from now on; empty: it is not to. It forgets what is too long ago to count.
func (q Quarantines) Degrade(now time.Time) (why string) {
	for id, t := range q {
		if now.Sub(t) > degradeWindow {
			delete(q, id)
		}
	}
	if len(q) < degradeAfter {
		return ""
	}
	return fmt.Sprintf("%d sessions were quarantined within %v", len(q), degradeWindow)
}
