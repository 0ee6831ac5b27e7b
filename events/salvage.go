package events

import (
	"fmt"
	"strconv"
	"strings"
)

// RecordLost stands at the position of a record that damage took, so that all others keep theirs. It is in the stream of that record
// where another one says which, else in the stream Lost.
type RecordLost struct {
	Version Version `cbor:"1,keyasint,omitempty" json:"version,omitempty"` // that the record had in its stream; 0: nobody says
}

// LogSalvaged says that the records before it were recovered from a damaged log, and which were not. Lists of more than MaxSpans are cut,
// the counts are whole.
type LogSalvaged struct {
	Source     string `cbor:"1,keyasint,omitempty" json:"source"`               // the damaged file's name, without its folder
	Records    uint64 `cbor:"2,keyasint,omitempty" json:"records"`              // recovered, those without their payload included
	Lost       uint64 `cbor:"3,keyasint,omitempty" json:"lost"`                 // of which there is a RecordLost now
	LostAt     []Span `cbor:"4,keyasint,omitempty" json:"lost_at,omitempty"`    // where
	Unread     uint64 `cbor:"5,keyasint,omitempty" json:"unread"`               // of which only the header was whole: they are as erased
	UnreadAt   []Span `cbor:"6,keyasint,omitempty" json:"unread_at,omitempty"`  // where
	Relaid     uint64 `cbor:"7,keyasint,omitempty" json:"relaid,omitempty"`     // with another version or chain than in the damaged log
	SourceSize int64  `cbor:"8,keyasint,omitempty" json:"source_size,omitzero"` // of the damaged file, in bytes
}

// MaxSpans is how long a list of a LogSalvaged is at most.
const MaxSpans = 10_000

// Span is positions that follow each other, both ends included.
type Span struct {
	From Position `cbor:"1,keyasint,omitempty" json:"from"`
	To   Position `cbor:"2,keyasint,omitempty" json:"to"`
}

// String is the span as people write it: 7, or 7-9.
func (s Span) String() string {
	if s.From == s.To {
		return strconv.FormatUint(uint64(s.From), 10)
	}
	return fmt.Sprintf("%d-%d", s.From, s.To)
}

// spansShown is how many spans SpansText lists: a line or two of them.
const spansShown = 20

// SpansText is spans as people read them, the first of them: 7, 9-12 and 3 more.
func SpansText(spans []Span) string {
	parts := make([]string, 0, spansShown)
	for _, s := range spans[:min(len(spans), spansShown)] {
		parts = append(parts, s.String())
	}
	text := strings.Join(parts, ", ")
	if more := len(spans) - len(parts); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Spans is positions that are added in their order, as spans of at most MaxSpans.
type Spans struct {
	Count uint64
	List  []Span
}

// Add adds at, which must follow all that were added.
func (s *Spans) Add(at Position) {
	s.Count++
	if n := len(s.List); n > 0 && s.List[n-1].To+1 == at {
		s.List[n-1].To = at
		return
	}
	if len(s.List) < MaxSpans {
		s.List = append(s.List, Span{From: at, To: at})
	}
}
