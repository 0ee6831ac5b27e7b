package daemon

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/refusal"
)

// foundInLog is called with what readers of the log meet: damage, or nil where somebody read all of it and found none.
func (d *daemon) foundInLog(e *eventlog.CorruptError) {
	var met *api.LogDamage
	if e != nil {
		met = &api.LogDamage{Position: e.Position, Stream: e.Stream, Reason: e.Reason, At: time.Now()}
	}
	news, err := d.damage.Note(met)
	switch {
	case err != nil:
		d.logger.Warn("what is known of damage of the log cannot be kept", "err", err)
	case news && e == nil:
		d.logger.Info("the log is whole again")
	case news:
		d.logger.Error("the log is damaged: `cmemd log salvage` saves what can be read", "position", e.Position, "err", e)
	}
}

// recheckLog looks, once, whether a log that was damaged in a life before still is: a backup may be in its place.
func (d *daemon) recheckLog(ctx context.Context) error {
	if d.damage.Known() != nil {
		if err := eventlog.Verify(ctx, d.log, nil); err != nil && ctx.Err() == nil {
			d.logger.Warn("the log was damaged, and still is", "err", err)
		}
	}
	<-ctx.Done()
	return nil
}

// logNotice is what a person should know of the log.
func (d *daemon) logNotice() (all []string) {
	if known := d.damage.Known(); known != nil {
		all = append(all, refusal.DamagedAt(known.Position)+" saves what can be read")
	}
	for _, f := range d.paths.Aside() {
		if f.Held {
			return append(all, "a log was exchanged or moved under a daemon: `cmemd status` names the file that holds what this one may lack")
		}
	}
	return all
}
