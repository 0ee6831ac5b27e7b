package index

import (
	"encoding/binary"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Kind is what a document is.
type Kind byte

// The kinds. They are in the index's document names: a change needs a new format.
const (
	Observation Kind = 'o'
	Summary     Kind = 's'
	Memory      Kind = 'm'
	Prompt      Kind = 'p'
)

// String is the kind's name in answers: observation, summary, memory, prompt.
func (k Kind) String() string {
	switch k {
	case Observation:
		return "observation"
	case Summary:
		return "summary"
	case Memory:
		return "memory"
	case Prompt:
		return "prompt"
	}
	return "unknown"
}

// refSize is the length of an encoded ref: id, kind, at, position, group.
const refSize = 16 + 1 + 8 + 8 + 16

// ref is a document's name in the index. It carries what filters and ranking need of every hit, so that no lookup is
// made for hits that are not shown. The id comes first: all names of an id share a prefix.
type ref struct {
	id       events.ID
	kind     Kind
	at       time.Time // when it was true; milliseconds are kept
	position events.Position
	group    events.SessionID // its session, or what stands for the session a saved memory names; zero: none
}

func (r ref) encode() string {
	b := make([]byte, 0, refSize)
	b = append(b, r.id[:]...)
	b = append(b, byte(r.kind))
	b = binary.BigEndian.AppendUint64(b, uint64(r.at.UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, uint64(r.position))
	return string(append(b, r.group[:]...))
}

// decodeRef reads what encode wrote; ok is false for anything else.
func decodeRef(b []byte) (r ref, ok bool) {
	if len(b) != refSize {
		return ref{}, false
	}
	copy(r.id[:], b)
	r.kind = Kind(b[16])
	r.at = time.UnixMilli(int64(binary.BigEndian.Uint64(b[17:]))).UTC()
	r.position = events.Position(binary.BigEndian.Uint64(b[25:]))
	copy(r.group[:], b[33:])
	return r, true
}
