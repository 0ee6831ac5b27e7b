package importer

import (
	"time"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/agents"
)

// keyOf is the key of an entry that came from source. A tool use has the one that its hook and its transcript have.
func keyOf(source string, o session.Origin, e *Entry) events.Key {
	if e.Kind == ToolUse {
		return agents.ToolKey(o, e.Name)
	}
	return events.KeyOf("import", source, o.Session().String(), string(e.Kind), e.Name)
}

// idOf is the id of an entry's fact, or of what else it is made for, at each import.
func idOf(what string, at time.Time, key events.Key) events.ID {
	return agents.TimedID("import "+what, at, key)
}

// record is what the ids of imported records are made for; rows have their own.
const record = "record"

// Captured reports whether a hook or a transcript made the record with header h: it is of a kind that agents report, and
// not imported. The id of an imported record follows from its time and key.
func Captured(h events.Header) bool {
	t, _ := h.Kind.Traits()
	return t.Reported && (h.Key.IsZero() || h.ID != idOf(record, h.OccurredAt, h.Key))
}
