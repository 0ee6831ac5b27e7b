package rows

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// Handle is the short name of a row in its own log: m and the position of the record that made it, as in m41. No other row
// of that log ever has it, and it outlives every rebuild. Zero is none.
type Handle events.Position

// String is how people write it; empty for none.
func (h Handle) String() string {
	if h == 0 {
		return ""
	}
	return "m" + strconv.FormatUint(uint64(h), 10)
}

// MarshalText implements encoding.TextMarshaler.
func (h Handle) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Handle) UnmarshalText(text []byte) error {
	read, ok := ParseHandle(string(text))
	if !ok && len(text) > 0 {
		return fmt.Errorf("rows: %q is no handle", text)
	}
	*h = read
	return nil
}

// ParseHandle reads what String wrote, an M for the m too; ok is false for anything else.
func ParseHandle(text string) (h Handle, ok bool) {
	digits, ok := strings.CutPrefix(strings.ToLower(text), "m")
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n == 0 {
		return 0, false
	}
	return Handle(n), true
}

// Handle is the row's short name; zero for one that is forgotten or unknown.
func (r Row) Handle() Handle {
	if r.Kind == "" {
		return 0
	}
	return Handle(r.Position)
}

// MarshalJSON writes the row with its handle.
func (r Row) MarshalJSON() ([]byte, error) {
	type plain Row // without methods
	return json.Marshal(struct {
		ID     events.ID `json:"id"`
		Handle Handle    `json:"handle,omitzero"`
		plain
	}{r.ID, r.Handle(), plain(r)})
}

// MadeBy returns the id of the row that a record made; zero: it made none. Errors are those of Record.Event: of what was
// erased, only a prompt and a preference are known still.
func MadeBy(r events.Record) (events.ID, error) {
	switch r.Kind {
	case events.KindPromptSubmitted, events.KindPreferenceStated:
		return r.ID, nil
	case events.KindObservationParsed, events.KindSummaryParsed, events.KindMemorySaved:
	default:
		return events.ID{}, nil
	}
	e, err := r.Event()
	switch e := e.(type) {
	case events.ObservationParsed:
		return e.Observation, err
	case events.SummaryParsed:
		return e.Summary, err
	case events.MemorySaved:
		return e.Memory, err
	}
	return events.ID{}, err
}
