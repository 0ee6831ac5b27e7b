package capture

import (
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// TestAStopWaitsForTheSpool: the tool uses of an answer that wait in the spool are recorded before the answer's end, which
// otherwise would have no work behind it and lead to no summary.
func TestAStopWaitsForTheSpool(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"Stop", "SessionEnd"} {
		w := newWorld(t, func(c *Config) { c.DrainEvery = time.Hour })
		<-w.pipeline.Drained()
		w.spool(t, "claude-code", newID(), 1, toolUse("s", "toolu_1", "go test", "ok"))
		w.spool(t, "claude-code", newID(), 2, toolUse("other", "toolu_2", "go vet", "ok"))
		w.post(t, hook(event, "s", map[string]any{"last_assistant_message": "Done."}))
		var kinds []events.Kind
		for _, r := range w.records(t) {
			e, err := r.Event()
			if err != nil {
				t.Fatal(err)
			}
			if stop, ok := e.(events.AgentStopped); ok && stop.Work != 1 {
				t.Errorf("%s: the stop has %d tool uses behind it, want 1", event, stop.Work)
			}
			if r.Stream == events.SessionIDOf("claude-code", "s").Stream() && r.Kind != events.KindSessionOpened {
				kinds = append(kinds, r.Kind)
			}
		}
		if len(kinds) < 2 || kinds[0] != events.KindToolUsed {
			t.Errorf("%s: recorded %v, want the tool use first", event, kinds)
		}
	}
}
