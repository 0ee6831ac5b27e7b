package playback

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
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
	var problem error
	o := parse(line, "", &problem)
	if problem == nil && first && o.has("playback") {
		s.readHeader(o)
		return problem
	}
	step := readStep(o)
	if problem == nil {
		s.Steps = append(s.Steps, step)
	}
	return problem
}

func (s *Script) readHeader(o *object) {
	o.number("playback", version, version)
	s.Model = o.text("model")
	if w := o.within("wish"); w != nil {
		s.BatchLimits.MaxInputs = int(w.number("max_inputs", 0, 1<<20))
		s.BatchLimits.MaxBytes = int(w.number("max_bytes", 0, 1<<30))
		s.BatchLimits.MaxAge = w.millis("max_age_ms")
		s.BatchLimits.Fixed = w.yes("fixed")
		w.done()
	}
	o.done()
}

func (o *object) millis(key string) time.Duration {
	return time.Duration(o.number(key, 0, maxMillis)) * time.Millisecond
}

func readStep(o *object) Step {
	s := Step{Action: readAction(o), Delay: o.millis("delay_ms"), Repeat: readRepeat(o)}
	if w := o.within("when"); w != nil {
		s.When.Kind = events.TurnKind(w.word("kind", string(events.TurnObservation), string(events.TurnSummary)))
		s.When.Contains = w.text("contains")
		s.When.Call = int(w.number("call", 1, maxRepeat))
		s.When.From, s.When.Until = w.millis("from_ms"), w.millis("until_ms")
		w.done()
		switch {
		case s.When == When{}:
			o.fail("when", "it says nothing")
		case s.When.Until > 0 && s.When.Until <= s.When.From:
			o.fail("when", "it ends before it begins")
		}
	}
	o.done()
	return s
}

// readAction reads the one thing that a step does.
func readAction(o *object) Action {
	all := []string{"text", "failure", "crash", "panic", "hang"}
	o.asked = append(o.asked, all...)
	var does []string
	for _, key := range all {
		if o.has(key) {
			does = append(does, key)
		}
	}
	if len(does) != 1 {
		o.fail("", "a step does one of %s; this one does %d", strings.Join(all, ", "), len(does))
		return nil
	}
	switch does[0] {
	case "text":
		return readText(o)
	case "failure":
		return readFailure(o.within("failure"))
	case "crash":
		return Crash(o.text("crash"))
	case "panic":
		return Panic(o.text("panic"))
	}
	o.yes("hang")
	return Hang{}
}

func readText(o *object) Action {
	t := Text{
		Text: o.text("text"), StopReason: o.text("stop_reason"),
		Form: events.Form(o.word("form", string(events.FormXML), string(events.FormStructured))),
	}
	t.Usage, t.Bill = readUsage(o)
	return t
}

func readUsage(o *object) (events.Usage, Bill) {
	u := o.within("usage")
	if u == nil {
		return events.Usage{}, Bill{}
	}
	tokens := events.Usage{
		Input: u.number("input", 0, maxTokens), Cached: u.number("cached", 0, maxTokens), Output: u.number("output", 0, maxTokens),
	}
	bill := Bill{Cost: u.amount("cost", maxCost), Calls: int(u.number("calls", 1, maxRepeat)), Model: u.text("model")}
	u.done()
	return tokens, bill
}

func readFailure(o *object) Action {
	if o == nil {
		return nil
	}
	if !o.has("class") {
		o.fail("class", "it is missing")
	}
	f := Failure{
		Class: events.FailureClass(o.word("class", classes()...)), Status: int(o.number("status", 100, 599)),
		ResetsIn: o.millis("resets_in_ms"), Message: o.text("message"), Output: o.text("output"),
		Form: events.Form(o.word("form", string(events.FormXML), string(events.FormStructured))),
	}
	f.Usage, f.Bill = readUsage(o)
	o.done()
	return f
}

// classes are the failures that a transport can name: those of the provider and those of the turn.
func classes() []string {
	return []string{
		string(events.FailLimit), string(events.FailAuth), string(events.FailBilling), string(events.FailOverload),
		string(events.FailServer), string(events.FailTransport), string(events.FailTimeout), string(events.FailSetup),
		string(events.FailUnknown), string(events.FailRefused), string(events.FailOverflow), string(events.FailTruncated),
	}
}

// readRepeat reads a number, or the word forever.
func readRepeat(o *object) int {
	if raw := o.values["repeat"]; string(raw) == `"forever"` {
		o.asked = append(o.asked, "repeat")
		return Forever
	}
	return int(o.number("repeat", 1, maxRepeat))
}
