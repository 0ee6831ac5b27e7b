package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
)

// Forget deletes the entries that match chooses: those that wait, dead letters, with their reasons, and what
// killed hooks left. An entry of which nothing can be told has its file's content as Body, and the time of its name or file.
// Half an entry that a hook is writing now is left alone. It returns how many files there were, and the names of those that
// match did not choose and nobody can open: their key is lost, or they were changed.
func (s *Spool) Forget(now time.Time, match func(Entry) bool) (deleted int, closed []string, err error) {
	for range maxPasses {
		n, unread, passErr := s.forgetOnce(now, match)
		deleted, closed, err = deleted+n, unread, passErr
		if n == 0 || err != nil {
			break
		}
	}
	return deleted, closed, err
}

// maxPasses is how often Forget looks through the spool as long as it finds something: who moves an entry through memory, as DeadLetter
// does, may put it where one look has been.
const maxPasses = 10

// forgetOnce is one look through all folders.
func (s *Spool) forgetOnce(now time.Time, match func(Entry) bool) (deleted int, closed []string, err error) {
	var errs []error
	for _, dir := range s.folders() {
		files, err := durable.ReadDir(dir)
		if err != nil {
			return deleted, closed, fmt.Errorf("spool: forget: %w", err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil || !info.Mode().IsRegular() || strings.HasSuffix(f.Name(), reasonSuffix) {
				continue
			}
			inUse := strings.HasPrefix(dir, s.in("tmp")) && !stale(info, now)
			became, err := s.forgetFile(dir, info, inUse, match)
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("spool: forget %s: %w", f.Name(), err))
			case became == unopened && !slices.Contains(closed, f.Name()):
				closed = append(closed, f.Name())
			}
			if became == forgotten {
				deleted++
			}
		}
	}
	return deleted, closed, errors.Join(errs...)
}

// What became of a file by Forget.
type forgetResult byte

const (
	stays forgetResult = iota
	forgotten
	unopened
)

// forgetFile deletes one file if it matches; inUse says that a hook may be writing it.
func (s *Spool) forgetFile(dir string, info fs.FileInfo, inUse bool, match func(Entry) bool) (forgetResult, error) {
	path := filepath.Join(dir, info.Name())
	data, err := readBounded(path, maxEntry)
	if errors.Is(err, fs.ErrNotExist) {
		return stays, nil
	}
	if err != nil {
		return stays, err
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	left := stays
	e, err := s.sealer.open(data)
	switch {
	case err != nil && inUse:
		return stays, nil
	case err != nil && readHeader(line).version == sealedFormat:
		left = unopened
		e = Entry{OccurredAt: timeOfName(info)}
	case err != nil:
		e = Entry{Body: data, OccurredAt: timeOfName(info)}
	}
	if e.Name = info.Name(); !match(e) {
		return left, nil
	}
	err = os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return stays, nil // the daemon took it meanwhile
	}
	if err != nil {
		return stays, err
	}
	return forgotten, durable.Remove(path + reasonSuffix)
}

// timeOfName is when the hook of a file started, as its name says, else when the file was written.
func timeOfName(info fs.FileInfo) time.Time {
	nanos, _, _ := strings.Cut(strings.TrimPrefix(info.Name(), sealedPrefix), "-")
	if n, err := strconv.ParseInt(nanos, 10, 64); err == nil && len(nanos) > 15 {
		return time.Unix(0, n).UTC()
	}
	return info.ModTime()
}
