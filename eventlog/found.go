package eventlog

import (
	"errors"

	"github.com/cmemd/cmemd/events"
)

// noteError is err, once Config.Found was called with what is damaged.
func (b *Bolt) noteError(err error) error {
	if e, ok := errors.AsType[*CorruptError](err); ok {
		b.NoteDamage(e)
	}
	return err
}

// positioned is err with the position of the record that was read, where err is damage of the file that names none.
func positioned(err error, at events.Position) error {
	e, ok := errors.AsType[*CorruptError](err)
	if !ok || e.Position != 0 || at == 0 {
		return err
	}
	return corruptf(at, e.Stream, "%s", e.Reason)
}

// NoteDamage passes on to Config.Found what damage a reader of records has found in a payload, which the log itself does not decode.
func (b *Bolt) NoteDamage(e *CorruptError) {
	if b.cfg.Found != nil {
		b.cfg.Found(e)
	}
}

// Noter is a log that keeps what is found in it. Whoever wraps a log that is one hands this on.
type Noter interface {
	// NoteVerified returns err, which Verify came to, once that was noted.
	NoteVerified(err error) error
}

// NoteVerified implements Noter: where err is nil, Config.Found was called with nil: all of the log is what it says.
func (b *Bolt) NoteVerified(err error) error {
	if err == nil && b.cfg.Found != nil {
		b.cfg.Found(nil)
	}
	return b.noteError(err)
}

// notingErrors is s, whose errors are noted.
func (b *Bolt) notingErrors(s slice) slice {
	return slice{n: s.n, at: func(i int) (events.Record, error) {
		r, err := s.at(i)
		return r, b.noteError(err)
	}}
}
