package eventlog

import (
	"context"
	"fmt"
	"os"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/boltcheck"
)

// Remains returns the positions of erased records of which a page of the file still holds the payload: pages that nothing leads to
// any more count as well. Between Erase and Compact that is so; after Compact it must not be. An error is one of reading the log.
func (b *Bolt) Remains(ctx context.Context) (found []events.Position, err error) {
	erased := map[events.Position]bool{}
	for r, err := range b.All(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if r.Erased {
			erased[r.Position] = true
		}
	}
	if len(erased) == 0 {
		return nil, nil
	}
	file, err := os.Open(b.path)
	if err != nil {
		return nil, fmt.Errorf("eventlog: %w", err)
	}
	defer file.Close()
	largest := int64(maxStored + b.pageSize)
	err = boltcheck.Leaves(ctx, file, b.pageSize, largest, func(e boltcheck.Element) {
		at := positionOf(e.Key)
		if !erased[at] {
			return
		}
		if r, err := parseRecord(b.cfg.Codec, at, e.Value); err == nil && !r.Erased {
			erased[at], found = false, append(found, at)
		}
	})
	if err != nil {
		return found, fmt.Errorf("eventlog: %w", err)
	}
	return found, nil
}
