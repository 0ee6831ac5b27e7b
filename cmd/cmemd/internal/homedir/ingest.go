package homedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/process"
)

// An Ingest is how far old sessions have been taken in by a process of its own. The one that works writes it down, file by file; the
// next one begins it anew.
type Ingest struct {
	process.Identity

	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended,omitzero"` // all files were gone through; zero: it goes on, or was interrupted
	Files     int       `json:"files"`
	Done      int       `json:"done"`
	Bytes     int64     `json:"bytes"`
	DoneBytes int64     `json:"done_bytes"`
	Captured  int       `json:"captured"`
	Failed    int       `json:"failed"` // files that could not be taken in to their ends
}

// NewIngest is one that begins in this process.
func NewIngest(now time.Time, files int, bytes int64) Ingest {
	return Ingest{Identity: process.Identify(os.Getpid()), Began: now.UTC(), Files: files, Bytes: bytes}
}

// Runs reports whether the process that wrote i down is still at work.
func (i Ingest) Runs() bool { return i.Ended.IsZero() && i.Lives() }

// Interrupted reports whether it ended before all was gone through.
func (i Ingest) Interrupted() bool { return i.PID != 0 && i.Ended.IsZero() && !i.Runs() }

// Write writes i down at path. A loss of power may lose it: what was taken in is known by the log.
func (i Ingest) Write(path string) error {
	return writeNote(path, i, durable.Swap)
}

// ReadIngest returns what stands at path; the zero value where nothing was taken in by a process of its own.
func ReadIngest(path string) (Ingest, error) { return readNote[Ingest](path) }

// writeNote writes down as JSON, by put, what a process says of itself.
func writeNote(path string, note any, put func(string, []byte, fs.FileMode) error) error {
	b, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return put(path, append(b, '\n'), OwnFile)
}

// readNote reads what a process wrote down of itself as JSON; the zero value where none did.
func readNote[T any](path string) (note T, err error) {
	b, err := durable.ReadLinked(path, maxDaemonFile)
	if errors.Is(err, fs.ErrNotExist) {
		return note, nil
	}
	if err == nil && len(b) > 0 { // a loss of power may leave it empty
		err = json.Unmarshal(b, &note)
	}
	if err != nil {
		return *new(T), fmt.Errorf("%s: %w", path, err)
	}
	return note, nil
}
