package relay

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
	"github.com/cmemd/cmemd/internal/jsonscan"
)

const (
	maxEntry    = 64 << 20 // bytes of a spool file; twice what a hook writes
	spoolFormat = 1
)

// Names returns the names of the entries that wait, oldest first. Names that begin with a dot are not entries.
func (s *Spool) Names() ([]string, error) {
	names, err := s.list()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, ".") })
	slices.Sort(names)
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
		e, err = parseEntry(data)
		e.Name = name
	}
	if err != nil {
		return Entry{Name: name}, fmt.Errorf("relay: spool file %s: %w", name, err)
	}
	return e, nil
}

// Remove deletes an entry; the caller has it on disk elsewhere. One that is gone already is no error.
func (s *Spool) Remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	err := os.Remove(s.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("relay: remove spool file: %w", err)
	}
	return nil
}

// DeadLetter makes an entry a dead letter: it moves it to bad, beside a file NAME.reason that says why. There it stays until a
// person deletes it. One that is gone already is no error: another one took or moved it.
func (s *Spool) DeadLetter(name, reason string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if _, err := os.Lstat(s.path(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.moveToBad(name, reason); err != nil {
		return fmt.Errorf("relay: set spool file %s aside: %w", name, err)
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
func (s *Spool) BadDir() string { return filepath.Join(s.dir, "bad") }

// BadUsage returns how many dead letters there are, and the bytes of their files and reasons.
func (s *Spool) BadUsage() (entries int, size int64, err error) {
	files, err := readDir(s.BadDir())
	if err != nil {
		return 0, 0, fmt.Errorf("relay: spool: %w", err)
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil { // one that a person just deleted takes no room
			size += info.Size()
		}
		if !strings.HasSuffix(f.Name(), reasonSuffix) {
			entries++
		}
	}
	return entries, size, nil
}

// reasonSuffix ends the name of the file that says why an entry is a dead letter.
const reasonSuffix = ".reason"

func (s *Spool) moveToBad(name, reason string) error {
	bad := s.BadDir()
	if err := os.MkdirAll(bad, 0o700); err != nil {
		return err
	}
	moved, why := filepath.Join(bad, name), filepath.Join(bad, name+reasonSuffix)
	if err := durable.Swap(why, []byte(reason+"\n"), 0o600); err != nil {
		return err
	}
	err := os.Rename(s.path(name), moved)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(moved); err == nil {
			return nil // who moved it gave a reason too
		}
		return os.Remove(why)
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(bad)
}

// checkName refuses what would reach a file outside the spool.
func checkName(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || name != filepath.Base(name) {
		return fmt.Errorf("relay: %w: name %q", ErrBadEntry, name)
	}
	return nil
}

// parseEntry reads a spool file. The entry's body is part of data.
func parseEntry(data []byte) (Entry, error) {
	line, body, found := bytes.Cut(data, []byte("\n"))
	if !found {
		return Entry{}, fmt.Errorf("%w: no header line", ErrBadEntry)
	}
	h := header{bytes: -1}
	if !jsonscan.Scalars(line, h.set) {
		return Entry{}, fmt.Errorf("%w: the header is not JSON", ErrBadEntry)
	}
	if problem := h.problem(len(body)); problem != "" {
		return Entry{}, fmt.Errorf("%w: %s", ErrBadEntry, problem)
	}
	h.entry.Body = body
	return h.entry, nil
}

// A header is the first line of a spool file as it is read.
type header struct {
	version, bytes int
	occurred       bool
	entry          Entry
}

// set takes one member of the header. Unknown ones are passed over: a later release may add some.
func (h *header) set(name string, value []byte) bool {
	text := ""
	if value[0] == '"' {
		text = jsonscan.Unquote(value)
	}
	switch name {
	case "v":
		h.version = wholeNumber(value)
	case "bytes":
		h.bytes = wholeNumber(value)
	case "agent":
		h.entry.Agent = text
	case "delivery":
		h.entry.Delivery = text
	case "occurred_at":
		at, err := time.Parse(time.RFC3339Nano, text)
		h.entry.OccurredAt, h.occurred = at.UTC(), err == nil
	case "cut":
		h.entry.Cut = string(value) == "true"
	case "redacted":
		h.entry.Redactions = readCounts(text)
	}
	return true
}

// problem says what is wrong with a header before a body of n bytes, or nothing.
func (h *header) problem(n int) string {
	switch {
	case h.version > spoolFormat:
		return "format " + strconv.Itoa(h.version) + " is newer than " + strconv.Itoa(spoolFormat)
	case h.version != spoolFormat:
		return "no format number"
	case !validAgent(h.entry.Agent):
		return "no agent's name"
	case !isUUID(h.entry.Delivery):
		return "no delivery id"
	case !h.occurred:
		return "no time"
	case h.bytes >= 0 && h.bytes != n:
		return "has " + strconv.Itoa(n) + " of " + strconv.Itoa(h.bytes) + " bytes"
	}
	return ""
}

// wholeNumber reads a number of a header; what is none of 0 or more counts as -1.
func wholeNumber(value []byte) int {
	n, err := strconv.Atoi(string(value))
	if err != nil || n < 0 {
		return -1
	}
	return n
}
