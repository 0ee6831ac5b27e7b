package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/durable"
)

// maxEntry is how many bytes a spool file may have: twice what a hook writes.
const maxEntry = 64 << 20

// maxReason is how many bytes of a dead letter's reason are read.
const maxReason = 64 << 10

// Names returns the names of the entries that wait, oldest first.
func (s *Spool) Names() ([]string, error) {
	names, err := s.list()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return checkName(n) != nil })
	slices.SortFunc(names, timeOrder)
	return names, nil
}

// Read returns one entry. The error names the file and the problem, and wraps ErrBadEntry if the file is to blame; the
// Entry then has its Name.
func (s *Spool) Read(name string) (Entry, error) {
	e := Entry{Name: name}
	err := checkName(name)
	if err != nil {
		return e, err
	}
	data, err := readBounded(s.path(name), maxEntry)
	if err == nil {
		e, err = s.sealer.open(data)
		e.Name = name
	}
	if err != nil {
		return Entry{Name: name}, fmt.Errorf("spool: file %s: %w", name, err)
	}
	return e, nil
}

// Remove deletes an entry; the caller has it on disk elsewhere. One that is gone already is no error.
func (s *Spool) Remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := durable.Remove(s.path(name)); err != nil {
		return fmt.Errorf("spool: remove spool file: %w", err)
	}
	return nil
}

// DeadLetter makes an entry a dead letter: it moves it to bad, beside a file NAME.reason that says why, sealed to the present
// key. There it stays until a person deletes it. One that cannot be opened, or sealed anew, moves as it is. One that is gone already
// is no error: another one took or moved it.
func (s *Spool) DeadLetter(name, reason string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if _, err := os.Lstat(s.path(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.moveToBad(name, reason); err != nil {
		return fmt.Errorf("spool: make a dead letter of %s: %w", name, err)
	}
	return nil
}

// Size returns how many bytes an entry's file has; one that has gone has none.
func (s *Spool) Size(name string) int64 {
	info, err := os.Lstat(s.path(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// BadDir is the folder of dead letters. It may not be there yet.
func (s *Spool) BadDir() string { return s.in("bad") }

// DeadLetterUsage returns how many dead letters there are, and the bytes of their files and reasons.
func (s *Spool) DeadLetterUsage() (entries int, size int64, err error) {
	files, err := durable.ReadDir(s.BadDir())
	if err != nil {
		return 0, 0, fmt.Errorf("spool: %w", err)
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil { // one that a person just deleted takes no room
			size += info.Size()
		}
		if !strings.HasSuffix(f.Name(), reasonSuffix) && !strings.HasPrefix(f.Name(), durable.NewPrefix) {
			entries++
		}
	}
	return entries, size, nil
}

// A DeadLetter is a payload that the daemon could not take for good.
type DeadLetter struct {
	Name   string `json:"name"`
	Reason string `json:"reason"` // as far as it could be read
}

// DeadLetters lists the dead letters, oldest first; never nil.
func (s *Spool) DeadLetters() ([]DeadLetter, error) {
	files, err := durable.ReadDir(s.BadDir())
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	letters := []DeadLetter{}
	for _, f := range files {
		if name := f.Name(); !strings.HasSuffix(name, reasonSuffix) && checkName(name) == nil {
			reason, _ := readBounded(filepath.Join(s.BadDir(), name+reasonSuffix), maxReason)
			letters = append(letters, DeadLetter{Name: name, Reason: strings.TrimSpace(string(reason))})
		}
	}
	slices.SortFunc(letters, func(a, b DeadLetter) int { return timeOrder(a.Name, b.Name) })
	return letters, nil
}

// Retry brings every dead letter back among the entries that wait, and returns how many. What the daemon cannot take becomes a dead letter
// again; what it has taken meanwhile it knows by its delivery.
func (s *Spool) Retry() (n int, err error) {
	letters, err := s.DeadLetters()
	if err != nil || len(letters) == 0 {
		return 0, err
	}
	if err := s.makeFolders(); err != nil {
		return 0, fmt.Errorf("spool: %w", err)
	}
	for _, l := range letters {
		from := filepath.Join(s.BadDir(), l.Name)
		if err := os.Rename(from, s.path(l.Name)); err != nil {
			return n, fmt.Errorf("spool: bring back a dead letter: %w", err)
		}
		n++
		_ = os.Remove(from + reasonSuffix) // a reason without its letter counts for nothing
	}
	return n, durable.SyncDir(s.in("new"))
}

// reasonSuffix ends the name of the file that says why an entry is a dead letter.
const reasonSuffix = ".reason"

func (s *Spool) moveToBad(name, reason string) error {
	bad := s.BadDir()
	if err := os.MkdirAll(bad, 0o700); err != nil {
		return err
	}
	e, err := s.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if err = s.sealDeadLetter(e, reason); !errors.Is(err, errUnsealed) {
			return err
		}
	}
	moved := filepath.Join(bad, name)
	if err := durable.Swap(moved+reasonSuffix, []byte(reason+"\n"), 0o600); err != nil {
		return err
	}
	err = os.Rename(s.path(name), moved)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(moved); err == nil {
			return nil // who moved it gave a reason too
		}
		return os.Remove(moved + reasonSuffix)
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(bad)
}

// sealDeadLetter stores an entry in bad, and removes it from new when it is on disk there.
func (s *Spool) sealDeadLetter(e Entry, reason string) error {
	f, err := s.store(e, "bad")
	if err != nil {
		return err
	}
	if err := durable.Swap(filepath.Join(s.BadDir(), f.name+reasonSuffix), []byte(reason+"\n"), 0o600); err != nil {
		return err
	}
	if err := durable.SyncDir(s.BadDir()); err != nil {
		return err
	}
	return s.Remove(e.Name)
}

// checkName refuses what would reach a file outside the spool.
func checkName(name string) error {
	bare := strings.TrimPrefix(name, sealedPrefix)
	if bare == "" || strings.HasPrefix(bare, ".") || name != filepath.Base(name) || bare != name && !timed(bare) {
		return fmt.Errorf("spool: %w: name %q", ErrBadEntry, name)
	}
	return nil
}
