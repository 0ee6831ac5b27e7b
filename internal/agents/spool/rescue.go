package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

// staleTmp is the age after which no hook can still be writing a file in tmp: it reads its
// input for up to 5 seconds, and then writes for up to 3.
const staleTmp = 10 * time.Second

// stale reports whether no hook can still be writing a file: it is old, or it is as far in the future, because the clock was
// set back since.
func stale(info fs.FileInfo, now time.Time) bool { return now.Sub(info.ModTime()).Abs() >= staleTmp }

// Rescue brings what hooks left whole in tmp into new, and removes the rest there: they were killed, or the disk kept them
// longer than their time. What a killed daemon left half in bad it removes too. It looks at what has not changed for ten
// seconds before now, and returns how many files were brought and how many removed. An entry that was posted too is known by
// its delivery id.
func (s *Spool) Rescue(now time.Time) (rescued, removed int, err error) {
	removed, err = durable.Sweep(s.BadDir(), now, staleTmp)
	for _, tmp := range []string{s.in("tmp"), s.tmp()} {
		files, listErr := durable.ReadDir(tmp)
		if listErr != nil {
			return rescued, removed, fmt.Errorf("spool: rescue from the spool: %w", errors.Join(err, listErr))
		}
		for _, f := range files {
			info, infoErr := f.Info()
			if infoErr != nil || info.IsDir() || !stale(info, now) {
				continue
			}
			brought, oneErr := s.rescue(filepath.Join(tmp, f.Name()))
			switch {
			case oneErr != nil:
				err = errors.Join(err, oneErr)
			case brought:
				rescued++
			default:
				removed++
			}
		}
	}
	if rescued > 0 {
		err = errors.Join(err, s.Sync(s.in("new")))
	}
	return rescued, removed, err
}

// rescue brings one file of tmp into new if it is a whole entry, else removes it.
func (s *Spool) rescue(path string) (brought bool, err error) {
	data, err := readBounded(path, maxEntry)
	if err != nil && !errors.Is(err, ErrBadEntry) {
		return false, err
	}
	name, ok := whole(data)
	if err != nil || !ok {
		return false, os.Remove(path)
	}
	if err := syncFile(path); err != nil {
		return false, err
	}
	return true, s.moveFromTmp(path, "new", name)
}
