package rows

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/events"
)

// Handle is the short name of a row: m and the position of the record that made it in its own log, as in m41, behind the name of its
// machine where that is another one, as in laptop:m41. No other row of that log ever has it, and it outlives every rebuild. The
// zero Handle is none.
type Handle struct {
	Machine string // empty: this one
	At      events.Position
}

// String is how people write it; empty for none.
func (h Handle) String() string {
	if h.At == 0 {
		return ""
	}
	name := "m" + strconv.FormatUint(uint64(h.At), 10)
	if h.Machine != "" {
		return h.Machine + machineMark + name
	}
	return name
}

// machineMark is between the name of a machine and what has that name on it.
const machineMark = ":"

// maxMachine is the longest name of a machine in a handle, in bytes.
const maxMachine = 64

// isMachineName reports whether text may be the name of a machine: letters, digits, dots, hyphens and underscores.
func isMachineName(text string) bool {
	return len(text) <= maxMachine && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	})
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
	machine, name, named := strings.Cut(text, machineMark)
	if !named {
		machine, name = "", text
	} else if machine == "" || !isMachineName(machine) {
		return Handle{}, false
	}
	digits, ok := strings.CutPrefix(strings.ToLower(name), "m")
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return Handle{}, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n == 0 {
		return Handle{}, false
	}
	return Handle{Machine: machine, At: events.Position(n)}, true
}

// Handle is the row's short name; zero for one that is forgotten or unknown.
func (r Row) Handle() Handle {
	if r.Kind == "" {
		return Handle{}
	}
	return Handle{Machine: r.Machine, At: cmp.Or(r.Place.Position, r.Position)}
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
		e, err := r.Event()
		return MadeOf(r, e), err
	}
	return events.ID{}, nil
}

// MadeOf is MadeBy of a record whose event is e.
func MadeOf(r events.Record, e events.Event) events.ID {
	switch e := e.(type) {
	case events.PromptSubmitted, events.PreferenceStated:
		return r.ID
	case events.ObservationParsed:
		return e.Observation
	case events.SummaryParsed:
		return e.Summary
	case events.MemorySaved:
		return e.Memory
	}
	return events.ID{}
}
