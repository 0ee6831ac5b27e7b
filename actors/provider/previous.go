package provider

import "github.com/cmemd/cmemd/events"

// Previous is how the last life of the daemon ended, folded from its stream. Before the first record it is Clean: there was none.
type Previous struct {
	Clean    bool // in order, or there was none: turns in flight blame nobody
	Degraded bool // capture only was in force
}

// EvolveRecord applies a record of the daemon's stream. An error is that of its payload.
func (p *Previous) EvolveRecord(r events.Record) error {
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
