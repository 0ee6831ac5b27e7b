package spool

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/internal/seal"
)

// A sealer makes the files of entries, and opens them.
type sealer struct{ keys seal.Ring }

// A file is an entry as it is stored.
type file struct {
	name  string // in new
	key   string // the id of the key that it is sealed to; empty: it is not sealed
	parts [][]byte
}

func (f file) size() (n int64) {
	for _, p := range f.parts {
		n += int64(len(p))
	}
	return n
}

// errUnsealed is that there is no key that can be believed and sealed to.
var errUnsealed = errors.New("there is no key to seal to")

// pack makes the file of an entry, sealed to the present key. Where that cannot be it returns an error wrapping errUnsealed, and a file
// without all that the agent and the person said.
func (s sealer) pack(e Entry) (file, error) {
	key, err := s.keys.Current()
	var head, sealed []byte
	if err == nil {
		plain := append(appendHeader(make([]byte, 0, len(e.Body)+512), e), e.Body...)
		head = sealedHeader(key.ID(), e, len(plain)+seal.Overhead)
		sealed, err = key.Seal(head, plain)
	}
	if err != nil {
		e = withheld(e)
		return file{name: entryName(e), parts: [][]byte{appendHeader(nil, e), e.Body}}, fmt.Errorf("%w: %w", errUnsealed, err)
	}
	return file{name: sealedPrefix + entryName(e), key: key.ID(), parts: [][]byte{head, sealed}}, nil
}

// isPresent reports whether a file is sealed to the key that is the present one by now, or need not be.
func (s sealer) isPresent(f file) bool {
	if f.key == "" {
		return true
	}
	key, err := s.keys.Current()
	return err == nil && key.ID() == f.key
}

// ErrLostKey is wrapped in what is returned for an entry that nobody can open any more: its private half is gone.
var ErrLostKey = fmt.Errorf("%w: sealed to a key that is gone", ErrBadEntry)

// open reads a spool file of either format. The entry's body may be part of data. It returns an error that wraps ErrBadEntry
// if the file is to blame, ErrLostKey among them; any other is the disk's.
func (s sealer) open(data []byte) (Entry, error) {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	h := readHeader(line)
	if h.version != sealedFormat {
		return parseEntry(data)
	}
	if problem := h.problem(len(rest)); problem != "" {
		return Entry{}, fmt.Errorf("%w: %s", ErrBadEntry, problem)
	}
	plain, err := s.keys.Open(h.key, data[:len(line)+1], rest)
	switch {
	case errors.Is(err, seal.ErrLostKey):
		return Entry{}, ErrLostKey
	case errors.Is(err, seal.ErrOpen):
		return Entry{}, fmt.Errorf("%w: was changed since it was sealed", ErrBadEntry)
	case err != nil:
		return Entry{}, err
	}
	e, err := parseEntry(plain)
	if err == nil && (e.Delivery != h.entry.Delivery || !e.OccurredAt.Equal(h.entry.OccurredAt)) {
		err = fmt.Errorf("%w: its two headers differ", ErrBadEntry)
	}
	return e, err
}
