package share

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share/segment"
	"github.com/cmemd/cmemd/events"
)

// linkAt is the link of the own log's record at a position, from what is known of one at or before it. It returns
// eventlog.ErrNotFound where the log ends before.
func linkAt(ctx context.Context, log eventlog.Reader, known feed, at events.Position) (events.Hash, error) {
	if known.Last > at {
		known = feed{}
	}
	l := segment.Linker{Link: known.Link}
	if known.Last == at {
		return l.Link, nil
	}
	for r, err := range log.All(ctx, known.Last+1) {
		if err == nil {
			err = l.Add(r)
		}
		if err != nil {
			return events.Hash{}, err
		}
		if r.Position == at {
			return l.Link, nil
		}
	}
	return events.Hash{}, fmt.Errorf("share: the log ends before %d: %w", at, eventlog.ErrNotFound)
}
