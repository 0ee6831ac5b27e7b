package eventlog

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/boltcheck"
	"github.com/cmemd/cmemd/internal/durable"
)

// Stats is what a log holds, and what it did since it was opened.
type Stats struct {
	Last      events.Position `json:"last"`
	Streams   int             `json:"streams"`
	FileBytes int64           `json:"file_bytes"`
	FreeBytes int64           `json:"free_bytes"` // of the file, in unused pages; Compact gives them back

	Commits    uint64        `json:"commits"`
	Appends    uint64        `json:"appends"`       // and erasures, refused ones too
	Records    uint64        `json:"records"`       // added
	Bytes      int64         `json:"bytes"`         // added, about
	Largest    int           `json:"largest_group"` // most appends in one commit
	CommitTime time.Duration `json:"commit_time"`   // of all commits together
}

// counts are the writer's figures.
type counts struct {
	mu sync.Mutex // guards s
	s  Stats
}

func (c *counts) add(appends, records int, bytes int64, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Commits++
	c.s.Appends += uint64(appends)
	c.s.Records += uint64(records)
	c.s.Bytes += bytes
	c.s.Largest = max(c.s.Largest, appends)
	c.s.CommitTime += took
}

func (c *counts) get() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.s
}

// Stats returns the log's figures. It reads the heads of all streams, so it is not for every request. Errors:
// ErrClosed, ErrFailed, *CorruptError.
func (b *Bolt) Stats(ctx context.Context) (Stats, error) {
	s := b.writer.counts.get()
	last, err := b.Last(ctx)
	if err != nil {
		return Stats{}, err
	}
	s.Last = last
	err = b.view(func(tx *bbolt.Tx) error {
		s.Streams = tx.Bucket(headBucket).Stats().KeyN - 1 // the format number is a key too
		return nil
	})
	if err != nil {
		return Stats{}, err
	}
	b.swap.RLock()
	defer b.swap.RUnlock()
	info, err := b.file.Stat()
	if err != nil {
		return Stats{}, b.endErr()
	}
	d := b.db.Stats()
	free := d.FreePageN + d.PendingPageN
	if b.readOnly { // then bbolt does not load the free list, and counts none
		if free, err = boltcheck.Free(b.file, info.Size()); err != nil {
			if !durable.IsOfSystem(err) {
				err = asCorrupt(err)
			}
			return Stats{}, fmt.Errorf("eventlog: stats of %s: %w", b.path, err)
		}
	}
	s.FileBytes, s.FreeBytes = info.Size(), int64(free)*int64(b.pageSize)
	return s, nil
}
