package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	api "github.com/blevesearch/bleve_index_api"
	"github.com/cmemd/cmemd/events"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	// format is the version of what is in the index: fields, analysis, document names. Another one is rebuilt.
	format = 3

	checkpointKey = "cmemd-checkpoint"
	dirtyFile     = "dirty"

	// analysers is how many goroutines turn text into terms while a batch is built.
	analysers = 2
)

// errDamaged is a store that cannot be trusted; it is made anew from the log.
var errDamaged = errors.New("index: damaged")

// checkpoint says what the store holds. It moves in the batch that holds it.
type checkpoint struct {
	Format   int             `json:"format"`
	Position events.Position `json:"position"`        // the last record that was applied
	Chain    events.Hash     `json:"chain"`           // of that record: tells a log from another one
	Added    uint64          `json:"added"`           // documents ever added
	Length   uint64          `json:"length"`          // terms in them
	Stale    bool            `json:"stale,omitempty"` // words of forgotten documents are still in the files
}

// store is one scorch index in one folder. Searches may use it while one writer applies batches.
type store struct {
	dir    string
	scorch *scorch.Scorch
	queue  *api.AnalysisQueue
	point  checkpoint // as of the last batch; the writer's alone

	columns columnCache
}

// openStore opens or makes the store in dir, which writes its batches to disk every flush. A store that is damaged, or
// of another format, is errDamaged. It never panics, whatever the files hold.
func openStore(dir string, flush time.Duration) (s *store, err error) {
	s = &store{dir: dir}
	defer func() {
		if err != nil {
			s.abandon()
		}
	}()
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if err := verify(dir); err != nil {
		return s, err
	}
	s.queue = api.NewAnalysisQueue(analysers)
	made, err := scorch.NewScorch(scorch.Name, map[string]any{
		"path": dir, "unsafe_batch": true, "bolt_timeout": "2s",
		"scorchPersisterOptions": map[string]any{"PersisterNapTimeMSec": flush.Milliseconds(), "PersisterNapUnderNumFiles": 500},
	}, s.queue)
	if err != nil {
		return s, fmt.Errorf("index: %w", err)
	}
	s.scorch = made.(*scorch.Scorch)
	if err := s.scorch.Open(); err != nil {
		s.scorch = nil
		return s, openFailure(err)
	}
	if err := s.readCheckpoint(); err != nil {
		return s, err
	}
	return s, os.WriteFile(filepath.Join(dir, dirtyFile), nil, 0o600)
}

// openFailure tells damage from what the machine denies: another process that has the store open, rights, room.
func openFailure(err error) error {
	for _, other := range []error{bolterrors.ErrTimeout, fs.ErrPermission, syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, other) {
			return fmt.Errorf("index: open: %w", err)
		}
	}
	return fmt.Errorf("%w: %s", errDamaged, err)
}

// guard turns a panic into errDamaged: scorch indexes into mapped files without checks.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errDamaged, p)
	}
}

// verify looks at the segment files' checksums if the store was not closed in order.
func verify(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, dirtyFile)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	for _, name := range files {
		if err := verifySegment(name); err != nil {
			return err
		}
	}
	return nil
}

// verifySegment checks the CRC-32 with which scorch ends every segment file.
func verifySegment(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	n := len(b) - 4
	if n < 0 {
		return fmt.Errorf("%w: %s is %d bytes long", errDamaged, filepath.Base(name), len(b))
	}
	want := uint32(b[n])<<24 | uint32(b[n+1])<<16 | uint32(b[n+2])<<8 | uint32(b[n+3])
	if got := crc32.ChecksumIEEE(b[:n]); got != want {
		return fmt.Errorf("%w: %s: checksum %08x, want %08x", errDamaged, filepath.Base(name), got, want)
	}
	return nil
}

func (s *store) readCheckpoint() error {
	snap, err := s.snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	s.point, err = pointOf(snap)
	return err
}

// pointOf reads the checkpoint that goes with a snapshot.
func pointOf(snap *scorch.IndexSnapshot) (checkpoint, error) {
	raw, err := snap.GetInternal([]byte(checkpointKey))
	if err != nil {
		return checkpoint{}, fmt.Errorf("%w: %s", errDamaged, err)
	}
	docs, err := snap.DocCount()
	if err != nil {
		return checkpoint{}, fmt.Errorf("%w: %s", errDamaged, err)
	}
	if raw == nil && docs == 0 {
		return checkpoint{Format: format}, nil
	}
	var p checkpoint
	if err := json.Unmarshal(raw, &p); err != nil || p.Format != format {
		return checkpoint{}, fmt.Errorf("%w: checkpoint %q, format %d wanted", errDamaged, raw, format)
	}
	return p, nil
}

// errStoreClosed is a store that was closed, or swapped for another, between two calls.
var errStoreClosed = errors.New("index: store closed")

// snapshot returns the store as it is now; the caller closes it. The store may be closed meanwhile.
func (s *store) snapshot() (*scorch.IndexSnapshot, error) {
	r, err := s.scorch.Reader()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	snap, ok := r.(*scorch.IndexSnapshot)
	if !ok || snap == nil {
		return nil, errStoreClosed
	}
	return snap, nil
}

// write applies a batch and moves the checkpoint to next with it. Searches that start later see it.
func (s *store) write(b *api.Batch, next checkpoint) (err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	raw, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	b.SetInternal([]byte(checkpointKey), raw)
	if err := s.scorch.Batch(b); err != nil {
		return fmt.Errorf("index: batch up to %d: %w", next.Position, err)
	}
	s.point = next
	return nil
}

// sync waits until all batches so far are on disk. It is the writer's.
func (s *store) sync() error {
	done := make(chan error, 1)
	b := api.NewBatch()
	b.SetPersistedCallback(func(err error) { done <- err })
	err := s.scorch.Batch(b)
	if err == nil {
		err = <-done
	}
	if err != nil {
		return fmt.Errorf("index: sync: %w", err)
	}
	return nil
}

// close ends the store's goroutines and files. Snapshots that are still held stay readable.
func (s *store) close() error {
	err := s.scorch.Close()
	s.queue.Close()
	if err != nil {
		return fmt.Errorf("index: close: %w", err)
	}
	if err := os.Remove(filepath.Join(s.dir, dirtyFile)); err != nil {
		return fmt.Errorf("index: close: %w", err)
	}
	return nil
}

// discard closes the store and deletes it.
func (s *store) discard() error {
	return errors.Join(s.close(), os.RemoveAll(s.dir))
}

// abandon closes what a failed openStore left open.
func (s *store) abandon() {
	var err error
	defer guard(&err)
	if s.scorch != nil {
		_ = s.scorch.Close() // the store is about to be deleted
	}
	if s.queue != nil {
		s.queue.Close()
	}
}
