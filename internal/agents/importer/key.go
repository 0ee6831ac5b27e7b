package importer

import (
	"crypto/sha256"
	"encoding/binary"
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

// idOf is a UUIDv7 of the time at which the fact behind key happened: the same at each import.
func idOf(what string, at time.Time, key events.Key) events.ID {
	h := sha256.Sum256(append([]byte("cmemd import "+what+" "), key[:]...))
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(at.UnixMilli(), 0)))
	var id events.ID
	copy(id[:6], ms[2:])
	copy(id[6:], h[:])
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	return id
}

// record is what the ids of imported records are made for; rows have their own.
const record = "record"

// Captured reports whether a hook or a transcript made the record with header h: it is of a kind that agents report, and
// not imported. The id of an imported record follows from its time and key.
func Captured(h events.Header) bool {
	switch h.Kind {
	case events.KindSessionOpened, events.KindPromptSubmitted, events.KindToolUsed, events.KindAgentStopped,
		events.KindContextCompacted:
		return h.Key.IsZero() || h.ID != idOf(record, h.OccurredAt, h.Key)
	}
	return false
}
