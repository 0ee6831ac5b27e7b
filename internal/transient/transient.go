package transient

import (
	"context"
	"errors"
	"slices"
	"syscall"
)

// Mark returns err with the mark of what may pass. It has err's text and wraps it, and is itself comparable, so that a
// sentinel may be marked where it is declared. Mark of nil is nil.
func Mark(err error) error {
	if err == nil {
		return nil
	}
	return &marked{err}
}

type marked struct{ err error }

func (m *marked) Error() string   { return m.err.Error() }
func (m *marked) Unwrap() error   { return m.err }
func (m *marked) Transient() bool { return true }

// Is reports whether err, or any error that it wraps, is marked, has a method Transient() bool that reports true, is the
// end of a context, or a full disk: more time, another caller, or some room may fare better. Is of nil is false.
func Is(err error) bool {
	var t interface{ Transient() bool }
	if errors.As(err, &t) && t.Transient() {
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || IsFull(err)
}

// IsFull reports whether the system says in err, or in any error that it wraps, that a disk is full, or what a user may have of it.
func IsFull(err error) bool {
	return slices.ContainsFunc(fullDisk(), func(full syscall.Errno) bool { return errors.Is(err, full) })
}
