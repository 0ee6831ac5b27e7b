package playback

import (
	"encoding/json"
	"slices"

	"github.com/cmemd/cmemd/events"
)

// header is the first line of s.
func (s *Script) header() []member {
	form, limits := int64(version), &s.BatchLimits
	return []member{
		number("playback", &form, version, version),
		text("model", &s.Model),
		alwaysWritten(within("wish", []member{
			alwaysWritten(number("max_inputs", &limits.MaxInputs, 0, 1<<20)),
			alwaysWritten(number("max_bytes", &limits.MaxBytes, 0, 1<<30)),
			alwaysWritten(millis("max_age_ms", &limits.MaxAge)),
			yes("fixed", &limits.Fixed),
		})),
	}
}

// actions are the keys of what a step does, of which each has one.
func actions() []string { return []string{"text", "failure", "crash", "panic", "hang"} }

// stepLine is a step as a line of a script.
type stepLine struct {
	Step
	does    string // one of actions; empty: nothing
	text    Text
	failure Failure
	crash   Crash
	panics  Panic
	hangs   bool
}

func lineOf(s Step) *stepLine {
	l := &stepLine{Step: s}
	switch a := s.Action.(type) {
	case Text:
		l.does, l.text = "text", a
	case Failure:
		l.does, l.failure = "failure", a
	case Crash:
		l.does, l.crash = "crash", a
	case Panic:
		l.does, l.panics = "panic", a
	case Hang:
		l.does, l.hangs = "hang", true
	}
	return l
}

func (l *stepLine) action() Action {
	switch l.does {
	case "text":
		return l.text
	case "failure":
		return l.failure
	case "crash":
		return l.crash
	case "panic":
		return l.panics
	}
	return Hang{}
}

// members are the keys that mean something in the line, beside a text those that say more of it.
func (l *stepLine) members() []member {
	all := []member{within("when", l.When.members()), text("text", &l.text.Text)}
	if l.does == "text" {
		all[1].always = true
		all = append(all, form(&l.text.Form), text("stop_reason", &l.text.StopReason), bill(&l.text.Usage, &l.text.Bill))
	}
	failure, crash, panics := within("failure", l.failure.members()), text("crash", &l.crash), text("panic", &l.panics)
	failure.always, crash.always, panics.always = l.does == "failure", l.does == "crash", l.does == "panic"
	return append(all, failure, crash, panics, yes("hang", &l.hangs), millis("delay_ms", &l.Delay), repeat(&l.Repeat))
}

func (w *When) members() []member {
	return []member{
		word("kind", &w.Kind, events.TurnObservation, events.TurnSummary),
		text("contains", &w.Contains),
		number("call", &w.Call, 1, maxRepeat),
		millis("from_ms", &w.From),
		millis("until_ms", &w.Until),
	}
}

func (f *Failure) members() []member {
	return []member{
		alwaysWritten(word("class", &f.Class, classes()...)),
		number("status", &f.Status, 100, 599),
		millis("resets_in_ms", &f.ResetsIn),
		text("message", &f.Message),
		text("output", &f.Output),
		form(&f.Form),
		bill(&f.Usage, &f.Bill),
	}
}

func form(f *events.Form) member { return word("form", f, events.FormXML, events.FormStructured) }

func bill(u *events.Usage, b *Bill) member {
	return within("usage", []member{
		number("input", &u.Input, 0, maxTokens),
		number("cached", &u.Cached, 0, maxTokens),
		number("output", &u.Output, 0, maxTokens),
		amount("cost", &b.Cost, maxCost),
		number("calls", &b.Calls, 1, maxRepeat),
		text("model", &b.Model),
	})
}

// repeat is a number, or the word forever.
func repeat(times *int) member {
	m := number("repeat", times, 1, maxRepeat)
	counted := m
	m.read = func(raw json.RawMessage) error {
		if string(raw) == `"forever"` {
			*times = Forever
			return nil
		}
		return counted.read(raw)
	}
	m.write = func() (any, bool) {
		if *times == Forever {
			return "forever", true
		}
		return counted.write()
	}
	return m
}

// classes are the failures that a transport can name: those of the provider and those of the turn.
func classes() []events.FailureClass {
	return slices.DeleteFunc(events.FailureClasses(), func(c events.FailureClass) bool { return !c.BlamesProvider() && !c.BlamesTurn() })
}
