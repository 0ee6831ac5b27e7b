package recall

import (
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer/evidence"
	"github.com/cmemd/cmemd/projections/rows"
)

// namedAgain are the observations that only say how something was, and of which later work of their session speaks again; see
// evidence.NamedAgain. What others' words were read for counts for nothing.
func (c *chooser) namedAgain() map[events.ID]bool {
	found := map[events.SessionID][]evidence.Finding{}
	ids := map[events.SessionID][]events.ID{}
	for _, row := range c.rows {
		if row.Kind == rows.Observation && !row.External() && c.unfit(*row) == "" {
			f := evidence.Finding{Prompt: row.Prompt, Title: row.Title, Text: row.Narrative, State: row.Type == typeDiscovery}
			found[row.Session] = append(found[row.Session], f)
			ids[row.Session] = append(ids[row.Session], row.ID)
		}
	}
	again := map[events.ID]bool{}
	for session, all := range found {
		for i, yes := range evidence.NamedAgain(all) {
			again[ids[session][i]] = yes
		}
	}
	return again
}
