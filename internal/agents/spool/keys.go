package spool

import (
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/seal"
)

// keyAge is how long one key is sealed to.
const keyAge = 24 * time.Hour

// Keys are the keys of a home's spool.
func Keys(home string) seal.Ring { return seal.NewRing(filepath.Join(home, "keys")) }

// LayKey sees to it that hooks of a home have a key to seal to. It makes one where there is none that can be used.
func LayKey(home string, now time.Time) error {
	keys := Keys(home)
	if _, err := keys.Current(); err == nil {
		return nil
	}
	return keys.Renew(now, keyAge)
}

// RenewKeys makes a new key once a day, and deletes the private halves of those to which nothing is sealed any more: see
// seal.Ring. It must not be called by two processes at once. It returns how many were deleted.
func (s *Spool) RenewKeys(now time.Time) (deleted int, err error) {
	if err := s.sealer.keys.Renew(now, keyAge); err != nil {
		return 0, err
	}
	gone, err := s.sealer.keys.Prune(now, s.sealedTo)
	return len(gone), err
}

// sealedTo reports whether a file in the spool is sealed to the key of that id, or cannot be read and may be.
func (s *Spool) sealedTo(id string) (bool, error) {
	for _, dir := range s.folders() {
		files, err := durable.ReadDir(dir)
		if err != nil {
			return false, err
		}
		for _, f := range files {
			if !f.Type().IsRegular() {
				continue
			}
			line, err := readLine(filepath.Join(dir, f.Name()))
			if err != nil {
				return false, err
			}
			if readHeader(line).key == id {
				return true, nil
			}
		}
	}
	return false, nil
}
