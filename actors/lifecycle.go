package actors

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// Previous is how the last life of the daemon ended, read from its stream.
type Previous struct {
	Clean    bool // in order, or there was none: turns in flight blame nobody
	Degraded bool // capture only was in force
}

// Begin reads how the last life ended and appends the start of this one.
func Begin(ctx context.Context, log eventlog.Log, d events.Draft) (Previous, error) {
	p := Previous{Clean: true}
	for r, err := range eventlog.Readable(log, nil).Stream(ctx, events.Daemon, 0) {
		if err == nil {
			err = p.evolve(r)
		}
		if err != nil {
			return Previous{}, fmt.Errorf("actors: read the daemon's stream: %w", err)
		}
	}
	_, err := eventlog.AppendEnd(ctx, log, events.Daemon, d)
	return p, err
}

func (p *Previous) evolve(r events.Record) error {
	switch r.Kind {
	case events.KindDaemonStarted:
		p.Clean = false
		return nil
	case events.KindDaemonStopped, events.KindDaemonDegraded:
	default:
		return nil
	}
	e, err := r.Event()
	if err != nil {
		return err
	}
	switch e := e.(type) {
	case events.DaemonStopped:
		p.Clean = e.Clean
	case events.DaemonDegraded:
		p.Degraded = !e.Cleared
	}
	return nil
}
