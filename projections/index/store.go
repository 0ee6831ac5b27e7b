package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	api "github.com/blevesearch/bleve_index_api"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/durable"
)

const (
	// format is the version of what is in the index: fields, analysis, document names. Another one is rebuilt.
	format = 3

	checkpointKey = "cmemd-checkpoint"

	// analysers is how many goroutines turn text into terms while a batch is built.
	analysers = 2
)

// checkpoint says what the store holds. It moves in the batch that holds it.
type checkpoint struct {
	Format   int             `json:"format"`
	Position events.Position `json:"position"`        // the last record that was applied
	Chain    events.Hash     `json:"chain"`           // of that record: tells a log from another one
	Order    events.LogID    `json:"order,omitzero"`  // of several logs, in which Position is; zero: of one
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
	exists, err := verify(dir)
	if err != nil {
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
		return s, fmt.Errorf("index: open: %w", err)
	}
	if err := s.readCheckpoint(exists); err != nil {
		return s, err
	}
	return s, opened(dir)
}

// readCheckpoint reads how far the store is. One that was there and has no checkpoint is none that scorch could read.
func (s *store) readCheckpoint(exists bool) error {
	snap, err := s.snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	if s.point, err = pointOf(snap); err == nil && exists && s.point.Position == 0 {
		err = fmt.Errorf("%w: there are files, and no checkpoint", errDamaged)
	}
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

// errUnwritten is a store whose batches do not get to disk. Searches find what they hold all the same.
var errUnwritten = errors.New("index: what was added cannot be written to disk")

// looksEvery is how often it is looked whether batches get to disk.
const looksEvery = 100 * time.Millisecond

// sync waits until all batches so far are on disk. It is the writer's. The error is errUnwritten as soon as scorch fails to write,
// which it goes on trying, or ctx's.
func (s *store) sync(ctx context.Context) (err error) {
	defer guard(&err)
	done := make(chan error, 1)
	b := api.NewBatch()
	b.SetPersistedCallback(func(err error) { done <- err })
	failures := s.failures()
	if err := s.scorch.Batch(b); err != nil {
		return fmt.Errorf("index: sync: %w", err)
	}
	look := time.NewTicker(looksEvery)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-look.C:
			if s.failures() > failures {
				return s.unwritten()
			}
		case <-ctx.Done():
			return fmt.Errorf("index: sync: %w", ctx.Err())
		}
	}
}

// failures is how often scorch could not write since it was opened.
func (s *store) failures() uint64 {
	if st, ok := s.scorch.Stats().(*scorch.Stats); ok {
		return atomic.LoadUint64(&st.TotPersistLoopErr)
	}
	return 0
}

// unwritten is errUnwritten with the reason, as far as another file of some size finds it out: scorch tells nobody.
func (s *store) unwritten() error {
	probe := filepath.Join(s.dir, "probe")
	err := os.WriteFile(probe, make([]byte, 1<<20), 0o600)
	if err = errors.Join(err, durable.Remove(probe)); err != nil {
		return fmt.Errorf("%w: %w", errUnwritten, err)
	}
	return errUnwritten
}

// close ends the store's goroutines and files. Snapshots that are still held stay readable.
func (s *store) close() error {
	err := s.scorch.Close()
	s.queue.Close()
	if err == nil {
		err = closed(s.dir)
	}
	if err != nil {
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
