package engine

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/cmemd/cmemd/internal/durable"
)

const fileName = "views.db"

// store is the open file, and the mark beside it.
type store struct {
	*File
	mark   *mark
	origin Origin // of what is in it
}

// openStore opens the file in dir, or makes it. What cannot be vouched for is deleted first, and why says so.
func openStore(dir, bootID string) (s *store, why string, err error) {
	path := filepath.Join(dir, fileName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	m, err := lockMark(filepath.Join(dir, markName))
	if err != nil {
		return nil, "", err
	}
	f, why, err := openTrusted(path, m.distrust(path, bootID))
	if err == nil {
		if err = m.set(bootID); err == nil {
			return &store{File: f, mark: m}, why, nil
		}
		_ = f.Close()
	}
	return nil, why, errors.Join(err, m.file.Close())
}

// openTrusted opens path, or makes it anew if there is a reason to, or if one turns up.
func openTrusted(path, why string) (*File, string, error) {
	if why == "" {
		f, err := OpenFile(path, false)
		if !errors.Is(err, ErrDamaged) {
			return f, "", err
		}
		why = err.Error()
	}
	if err := durable.Remove(path); err != nil {
		return nil, why, err
	}
	f, err := OpenFile(path, false)
	return f, why, err
}

// close syncs the file, and then has the mark vouch for it.
func (s *store) close() error {
	err := Guard(s.db.Sync)
	moved := s.CheckInPlace()
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if err == nil && moved == nil {
		err = s.mark.vouch(s.path)
	}
	return errors.Join(err, s.mark.file.Close())
}

// abandon lets the file go, whatever state it is in. The mark stays.
func (s *store) abandon() {
	_ = s.Close()
	_ = s.mark.file.Close()
}
