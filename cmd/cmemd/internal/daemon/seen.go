package daemon

import (
	"context"
	"strings"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
)

// openUnion opens the union of the own log and what is here of other machines' logs. Until there is any it is the own log itself.
func (d *daemon) openUnion() error {
	u, err := union.Open(d.log, union.Config{Dir: d.paths.Copies, Copies: d.config.Log()})
	if err != nil {
		return err
	}
	d.union = union.Log{Union: u}
	return nil
}

// seenActors are the actors, as those ask them who read the union: positions in commands are the union's, and so are those of
// receipts. The actors themselves know the own log alone.
type seenActors struct {
	*actors.System
	log union.Log
}

func (d *daemon) seenActors() seenActors { return seenActors{d.actors, d.union} }

// Do implements actors.Sink.
func (s seenActors) Do(ctx context.Context, id events.SessionID, cmds ...session.Command) (actors.Receipt, error) {
	named, err := union.Own(s.log, cmds)
	if err != nil {
		return actors.Receipt{}, err
	}
	receipt, err := s.System.Do(ctx, id, named...)
	receipt.Position = s.log.Seen(receipt.Position)
	return receipt, err
}

// Resume is actors.System.Resume, with a position of the union.
func (s seenActors) Resume(ctx context.Context, name string) (events.Position, error) {
	at, err := s.System.Resume(ctx, name)
	return s.log.Seen(at), err
}

// logsOf are the logs of the other machines of a name: one machine may have had several.
func (d *daemon) logsOf(machine string) (all []events.LogID) {
	for _, c := range d.union.Copies() {
		if strings.EqualFold(d.views.Machine(c.Log), machine) {
			all = append(all, c.Log)
		}
	}
	return all
}
