package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
)

// MaxScenario is the most bytes that a scenario may have: recordings larger than this are taken in stretches.
const MaxScenario = 256 << 20

// ErrScenarioTooLarge is returned by ReadScenario for more than MaxScenario bytes.
var ErrScenarioTooLarge = errors.New("replay: scenario is larger than 256 MiB")

// ReadScenario reads one scenario as JSON from r, to its end. Absent fields are zero. What makes no sense is an error: a
// *ScenarioError for values, a *SyntaxError for text that is not JSON, or not a scenario's, and ErrScenarioTooLarge.
//
// The text is held while it is read, and its events are read on all processors.
func ReadScenario(r io.Reader) (*Scenario, error) { return readScenario(r, MaxScenario) }

func readScenario(r io.Reader, limit int64) (*Scenario, error) {
	text, err := readText(r, limit+1)
	if err != nil {
		return nil, fmt.Errorf("replay: read scenario: %w", err)
	}
	if int64(len(text)) > limit {
		return nil, ErrScenarioTooLarge
	}
	s, wrong := parseScenario(text)
	if wrong != nil {
		return nil, wrong
	}
	return s, s.Check()
}

// readText reads at most that many bytes, a file into a buffer of its size: one that grows is held twice meanwhile.
func readText(r io.Reader, most int64) ([]byte, error) {
	var text bytes.Buffer
	if file, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := file.Stat(); err == nil {
			text.Grow(int(min(info.Size(), most)) + bytes.MinRead)
		}
	}
	_, err := text.ReadFrom(io.LimitReader(r, most))
	return text.Bytes(), err
}

// parseScenario reads the events by themselves, and then what stands around them. Of two things that are wrong it returns the
// first.
func parseScenario(text []byte) (*Scenario, *SyntaxError) {
	from := eventsAt(text)
	var evs []Event
	var wrong *SyntaxError
	to := from
	if from > 0 {
		var spans []span
		if spans, to, wrong = splitEvents(text, from); wrong == nil {
			evs, wrong = readEvents(text, spans)
		}
	}
	s, outside := readAround(text, span{from, to})
	if wrong != nil && (outside == nil || outside.Offset >= int64(from)) {
		return nil, wrong
	}
	if outside == nil && len(evs) > 0 {
		s.Events = evs
	}
	return s, outside
}

// readEvents reads the events that stand in text, or returns what is wrong with the first one that cannot be read.
func readEvents(text []byte, spans []span) (evs []Event, first *SyntaxError) {
	evs = make([]Event, len(spans))
	var mu sync.Mutex // guards first
	inParallel(len(spans), func(from, to int) {
		scan := eventScanner{names: map[string]string{}}
		for i := from; i < to; i++ {
			at, err := scan.read(text[spans[i].from:spans[i].to], &evs[i])
			if err == nil {
				continue
			}
			mu.Lock()
			defer mu.Unlock()
			if wrong := syntaxError(text, spans[i].from+at, err); first == nil || wrong.Offset < first.Offset {
				first = wrong
			}
			return
		}
	})
	return evs, first
}

// readAround reads a scenario without the events that stand at a place of its text.
func readAround(text []byte, events span) (*Scenario, *SyntaxError) {
	var s *Scenario
	at, err := decodeStrictly(slices.Concat(text[:events.from], text[events.to:]), &s)
	switch {
	case err != nil:
	case s == nil:
		err = errors.New("null is no scenario")
	case events.from > 0 && len(s.Events) > 0:
		err = errors.New("it has two lists of events")
	default:
		return s, nil
	}
	if at > events.from {
		at += events.to - events.from
	}
	return nil, syntaxError(text, at, err)
}
