package space

import (
	"bytes"
	"errors"
	"fmt"
)

// Errors of taking a manifest from the store.
var (
	// ErrRolledBack is returned where the store gives an older manifest than this machine has seen.
	ErrRolledBack = errors.New("space: the store gives an older list of machines than it did")
	// ErrDiverged is returned where the store's manifest does not continue the one that this machine knows: two machines changed it
	// at once by a store that cannot decide between them, or the store is another one.
	ErrDiverged = errors.New("space: the store's list of machines is not the one that this machine knows; enter the space again")
)

// fold returns what a manifest's bytes come to. The manifest must be that of the space id.
func fold(b []byte, id ID) (m Manifest, err error) {
	rest, err := afterHead(b)
	if err != nil {
		return m, err
	}
	if m, err = m.extended(rest); err != nil {
		return m, err
	}
	if m.ID != id || m.Number == 0 {
		return m, fmt.Errorf("%w: it is of another space", ErrManifest)
	}
	return m, nil
}

// extended is what m is after more entries.
func (m Manifest) extended(b []byte) (Manifest, error) {
	entries, err := parseEntries(b)
	for _, e := range entries {
		if err == nil {
			m, err = m.with(e)
		}
	}
	return m, err
}

// continues returns an error unless b continues the chain before, or is it.
func continues(before, b []byte) error {
	switch {
	case bytes.HasPrefix(b, before):
		return nil
	case bytes.HasPrefix(before, b):
		return ErrRolledBack
	}
	return ErrDiverged
}
