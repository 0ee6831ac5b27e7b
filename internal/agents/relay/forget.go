package relay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Forget deletes the entries that match chooses: those that wait, dead letters, with their reasons, and what
// killed hooks left. An entry of which nothing can be told has its file's content as Body, and the time of its name or file.
// Half an entry that a hook is writing now is left alone. It returns how many files there were.
func (s *Spool) Forget(now time.Time, match func(Entry) bool) (deleted int, err error) {
	var errs []error
	for _, sub := range []string{"new", "bad", "tmp"} {
		dir := filepath.Join(s.dir, sub)
		files, err := readDir(dir)
		if err != nil {
			return deleted, fmt.Errorf("relay: forget: %w", err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil || !info.Mode().IsRegular() || strings.HasSuffix(f.Name(), reasonSuffix) {
				continue
			}
			gone, err := forgetFile(dir, info, sub == "tmp" && now.Sub(info.ModTime()) < staleTmp, match)
			if err != nil {
				errs = append(errs, fmt.Errorf("relay: forget %s: %w", f.Name(), err))
			}
			if gone {
				deleted++
			}
		}
	}
	return deleted, errors.Join(errs...)
}

// forgetFile deletes one file if it matches; inUse says that a hook may be writing it.
func forgetFile(dir string, info fs.FileInfo, inUse bool, match func(Entry) bool) (gone bool, err error) {
	path := filepath.Join(dir, info.Name())
	data, err := readBounded(path, maxEntry)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	e, err := parseEntry(data)
	if err != nil && inUse {
		return false, nil
	}
	if err != nil {
		e = Entry{Body: data, OccurredAt: timeOfName(info)}
	}
	if e.Name = info.Name(); !match(e) {
		return false, nil
	}
	err = os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // the daemon took it meanwhile
	}
	if err != nil {
		return false, err
	}
	if err := os.Remove(path + reasonSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	return true, nil
}

// timeOfName is when the hook of a file started, as its name says, else when the file was written.
func timeOfName(info fs.FileInfo) time.Time {
	nanos, _, _ := strings.Cut(info.Name(), "-")
	if n, err := strconv.ParseInt(nanos, 10, 64); err == nil && len(nanos) > 15 {
		return time.Unix(0, n).UTC()
	}
	return info.ModTime()
}
