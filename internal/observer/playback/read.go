package playback

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cmemd/cmemd/actors/policy"
)

// ErrScript is a script that cannot be used. The error says in which line and at which key.
var ErrScript = errors.New("playback: bad script")

const (
	// version is the form of scripts that this package reads and writes.
	version = 1

	// maxLine and maxScript bound what is read, in bytes: a line holds the longest output that a daemon judges, 10 MiB,
	// even where JSON has to escape it.
	maxLine   = 64 << 20
	maxScript = 256 << 20

	// maxMillis is the longest time that a script can say: a year.
	maxMillis = 365 * 24 * 60 * 60 * 1000

	maxRepeat = 1 << 30
	maxTokens = 1 << 50
	maxCost   = 1e6 // US dollars of one turn
)

// Read reads a script to its end. The errors are ErrScript, and those of r.
func Read(r io.Reader) (*Script, error) {
	s := &Script{BatchLimits: policy.ModelLimits()}
	limited := &io.LimitedReader{R: r, N: maxScript + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxLine)
	first := true
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if err := s.readLine(line, first); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrScript, n, err)
		}
		first = false
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%w: line %d: it is longer than %d bytes", ErrScript, n+1, maxLine)
	case err != nil:
		return nil, err
	case limited.N == 0:
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrScript, maxScript)
	case len(s.Steps) == 0:
		return nil, fmt.Errorf("%w: it has no step", ErrScript)
	}
	return s, nil
}

func (s *Script) readLine(line []byte, first bool) error {
	if !utf8.Valid(line) {
		return errors.New("it is no UTF-8")
	}
	values, err := parse(line)
	if err != nil {
		return err
	}
	if _, header := values["playback"]; header && first {
		return take(values, s.header())
	}
	step, err := readStep(values)
	s.Steps = append(s.Steps, step)
	return err
}

func readStep(values map[string]json.RawMessage) (s Step, err error) {
	var does []string
	for _, key := range actions() {
		if _, ok := values[key]; ok {
			does = append(does, key)
		}
	}
	if len(does) != 1 {
		return s, wrong("a step does one of %s; this one does %d", strings.Join(actions(), ", "), len(does))
	}
	l := stepLine{Step: s, does: does[0]}
	if err := take(values, l.members()); err != nil {
		return s, err
	}
	_, conditional := values["when"]
	switch {
	case conditional && l.When == When{}:
		return s, at("when", wrong("it says nothing"))
	case l.When.Until > 0 && l.When.Until <= l.When.From:
		return s, at("when", wrong("it ends before it begins"))
	case l.does == "failure" && l.failure.Class == "":
		return s, at("failure.class", wrong("it is missing"))
	}
	l.Action = l.action()
	return l.Step, nil
}
