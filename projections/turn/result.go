package turn

import "github.com/cmemd/cmemd/events"

// Result is how a turn ended.
type Result string

// The results.
const (
	Running Result = "running" // or interrupted, and not yet closed
	Kept    Result = "kept"
	Skipped Result = "skipped"
	Dropped Result = "dropped"
	Failed  Result = "failed"
)

// ResultOf is how a turn ended of which there is a record of kind k; empty where that does not say yet.
func ResultOf(k events.Kind) Result {
	switch k {
	case events.KindTurnFailed:
		return Failed
	case events.KindOutputDropped:
		return Dropped
	case events.KindOutputSkipped:
		return Skipped
	case events.KindObservationParsed, events.KindSummaryParsed:
		return Kept
	}
	return ""
}
