package daemon

import (
	"context"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/sharing"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/internal/sleep"
)

func (d *daemon) sharingConfig() sharing.Config {
	return sharing.Config{
		Dir: d.paths.Machines, Own: d.log, Copies: d.union.Union, Check: d.union.Verify, Forget: d.forgetPlaces, Log: d.logger,
	}
}

// writerOf is what the machine is called that writes another log; empty where that is not known yet.
func (d *daemon) writerOf(log events.LogID) string {
	if d.sharing == nil { // the views are being opened
		return ""
	}
	return d.sharing.Writer(log)
}

// shares says whether this home is in a space, and what notShared says.
func (d *daemon) shares(ctx context.Context) (joined bool, wrong []string) {
	return d.sharing.Joined(), d.notShared(ctx)
}

// notShared is what keeps this home's memory from being shared with other machines, in words.
func (d *daemon) notShared(ctx context.Context) []string {
	if d.sharing == nil {
		return nil
	}
	return d.sharing.Wrong(ctx)
}

// announceErasure has the other machines, and the store, forget what this home's log is about to.
func (d *daemon) announceErasure(ctx context.Context, at []events.Position) error {
	var places []events.Place
	for _, p := range at {
		if place, ok := d.union.Where(p); ok {
			places = append(places, place)
		}
	}
	return d.sharing.Forget(ctx, places)
}

// forgetPlaces forgets here what a machine asked all to forget: copies have been erased already.
func (d *daemon) forgetPlaces(ctx context.Context, at []events.Place) error {
	id, err := eventlog.ID(ctx, d.log)
	if err != nil {
		return err
	}
	var own, others []events.Position
	for _, place := range at {
		if place.Log == id {
			place.Log = events.LogID{}
		}
		p, here := d.union.At(place)
		switch {
		case !here: // nobody has read it
		case place.Log.IsZero():
			own = append(own, p)
		default:
			others = append(others, p)
		}
	}
	if len(own) > 0 {
		if _, err := d.eraser.Forget(ctx, erasure.Request{Positions: own}, nil); err != nil {
			return err
		}
	}
	return d.eraser.ForgetOthers(ctx, others...)
}

// Copies are looked at once a day, for the first time when a start has long been over.
const (
	firstTrim = 10 * time.Minute
	trimEvery = 24 * time.Hour
)

// trimCopies leaves out of the copies what other machines' agents did longer ago than retention_days, or than union.Limits says
// where that is not set. What was made of it stays, and its own machine has it.
func (d *daemon) trimCopies(ctx context.Context) error {
	limits := union.Limits{Age: time.Duration(d.config.RetentionDays) * 24 * time.Hour}
	for wait := firstTrim; ; wait = trimEvery {
		if sleep.For(ctx, wait) != nil {
			return nil
		}
		done, err := d.union.Trim(ctx, limits)
		switch {
		case err != nil && ctx.Err() == nil:
			d.logger.Warn("old events of other machines are still in the copies; it is tried again tomorrow", "err", err)
		case done.Records > 0:
			d.logger.Info("left old events of other machines out of the copies", "records", done.Records, "bytes", done.Bytes)
		}
	}
}
