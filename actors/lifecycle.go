package actors

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/actors/provider"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Begin reads how the last life ended and appends the start of this one.
func Begin(ctx context.Context, log eventlog.Log, d events.Draft) (provider.Previous, error) {
	p := provider.Previous{Clean: true}
	for r, err := range eventlog.Readable(log, nil).Stream(ctx, events.Daemon, 0) {
		if err == nil {
			err = p.EvolveRecord(r)
		}
		if err != nil {
			return provider.Previous{}, fmt.Errorf("actors: read the daemon's stream: %w", err)
		}
	}
	_, err := eventlog.AppendEnd(ctx, log, events.Daemon, d)
	return p, err
}
