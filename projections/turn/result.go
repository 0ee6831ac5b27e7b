package turn

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
