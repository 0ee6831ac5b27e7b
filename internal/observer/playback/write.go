package playback

import (
	"bytes"
	"fmt"
	"io"
)

// Write writes s so that Read reads it back. The error is ErrScript for what no script can say, such as a step without an
// action, a part of a millisecond, or a text that is no UTF-8; else that of w. Nothing is written before all is checked.
func (s *Script) Write(w io.Writer) error {
	whole := append(appendObject(nil, s.header()), '\n')
	for _, step := range s.Steps {
		whole = append(appendObject(whole, lineOf(step).members()), '\n')
	}
	if err := s.readsBack(whole); err != nil {
		return err
	}
	_, err := w.Write(whole)
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
