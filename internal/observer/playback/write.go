package playback

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cmemd/cmemd/events"
)

// The lines of a script as they are written. Read does not use them: it is stricter than a decoder of structs can be.
type (
	headerLine struct {
		Playback int      `json:"playback"`
		Model    string   `json:"model,omitempty"`
		Wish     wishLine `json:"wish"`
	}
	wishLine struct {
		MaxInputs int   `json:"max_inputs"`
		MaxBytes  int   `json:"max_bytes"`
		MaxAgeMS  int64 `json:"max_age_ms"`
		Fixed     bool  `json:"fixed,omitempty"`
	}
	stepLine struct {
		When       *whenLine    `json:"when,omitempty"`
		Text       *string      `json:"text,omitempty"`
		Form       events.Form  `json:"form,omitempty"`
		StopReason string       `json:"stop_reason,omitempty"`
		Usage      *usageLine   `json:"usage,omitempty"`
		Failure    *failureLine `json:"failure,omitempty"`
		Crash      *Crash       `json:"crash,omitempty"`
		Panic      *Panic       `json:"panic,omitempty"`
		Hang       bool         `json:"hang,omitempty"`
		DelayMS    int64        `json:"delay_ms,omitempty"`
		Repeat     any          `json:"repeat,omitempty"`
	}
	whenLine struct {
		Kind     events.TurnKind `json:"kind,omitempty"`
		Contains string          `json:"contains,omitempty"`
		Call     int             `json:"call,omitempty"`
		FromMS   int64           `json:"from_ms,omitempty"`
		UntilMS  int64           `json:"until_ms,omitempty"`
	}
	usageLine struct {
		Input  int64   `json:"input,omitempty"`
		Cached int64   `json:"cached,omitempty"`
		Output int64   `json:"output,omitempty"`
		Cost   float64 `json:"cost,omitempty"`
		Calls  int     `json:"calls,omitempty"`
		Model  string  `json:"model,omitempty"`
	}
	failureLine struct {
		Class      events.FailureClass `json:"class"`
		Status     int                 `json:"status,omitempty"`
		ResetsInMS int64               `json:"resets_in_ms,omitempty"`
		Message    string              `json:"message,omitempty"`
		Output     string              `json:"output,omitempty"`
		Form       events.Form         `json:"form,omitempty"`
		Usage      *usageLine          `json:"usage,omitempty"`
	}
)

// Write writes s so that Read reads it back. The error is ErrScript for what no script can say, such as a step without an
// action, a part of a millisecond, or a text that is no UTF-8; else that of w. Nothing is written before all is checked.
func (s *Script) Write(w io.Writer) error {
	var whole bytes.Buffer
	e := json.NewEncoder(&whole)
	e.SetEscapeHTML(false)
	err := e.Encode(headerLine{Playback: version, Model: s.Model, Wish: wishLine{
		MaxInputs: s.BatchLimits.MaxInputs, MaxBytes: s.BatchLimits.MaxBytes, MaxAgeMS: s.BatchLimits.MaxAge.Milliseconds(), Fixed: s.BatchLimits.Fixed,
	}})
	for _, step := range s.Steps {
		if err == nil {
			err = e.Encode(step.line())
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrScript, err)
	}
	if err := s.readsBack(whole.Bytes()); err != nil {
		return err
	}
	_, err = w.Write(whole.Bytes())
	return err
}

// readsBack reports what of s did not come through.
func (s *Script) readsBack(written []byte) error {
	again, err := Read(bytes.NewReader(written))
	if err != nil {
		return err
	}
	if again.Model != s.Model || again.BatchLimits != s.BatchLimits {
		return fmt.Errorf("%w: its header cannot be written", ErrScript)
	}
	for i, step := range s.Steps {
		if again.Steps[i] != step {
			return fmt.Errorf("%w: step %d cannot be written", ErrScript, i+1)
		}
	}
	return nil
}

func (s Step) line() stepLine {
	l := stepLine{DelayMS: s.Delay.Milliseconds()}
	switch {
	case s.Repeat == Forever:
		l.Repeat = "forever"
	case s.Repeat != 0:
		l.Repeat = s.Repeat
	}
	if s.When != (When{}) {
		l.When = &whenLine{
			Kind: s.When.Kind, Contains: s.When.Contains, Call: s.When.Call,
			FromMS: s.When.From.Milliseconds(), UntilMS: s.When.Until.Milliseconds(),
		}
	}
	switch a := s.Action.(type) {
	case Text:
		l.Text, l.Form, l.StopReason = &a.Text, a.Form, a.StopReason
		l.Usage = usageOf(a.Usage, a.Bill)
	case Failure:
		l.Failure = &failureLine{
			Class: a.Class, Status: a.Status, ResetsInMS: a.ResetsIn.Milliseconds(), Message: a.Message, Output: a.Output,
			Form: a.Form, Usage: usageOf(a.Usage, a.Bill),
		}
	case Crash:
		l.Crash = &a
	case Panic:
		l.Panic = &a
	case Hang:
		l.Hang = true
	}
	return l
}

// usageOf is nil where there is nothing to say.
func usageOf(u events.Usage, b Bill) *usageLine {
	l := usageLine{Input: u.Input, Cached: u.Cached, Output: u.Output, Cost: b.Cost, Calls: b.Calls, Model: b.Model}
	if l == (usageLine{}) {
		return nil
	}
	return &l
}
