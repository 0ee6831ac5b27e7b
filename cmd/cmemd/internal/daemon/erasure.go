package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/memory/erasure"
	"github.com/cmemd/cmemd/internal/sleep"
)

// eraserConfig is how words are taken out of this home: of the log, the views' file and the index, in this order.
func (d *daemon) eraserConfig() erasure.Config {
	return erasure.Config{
		Log: d.union, Views: d.views, Do: d.doWhenNotBusy, Announce: d.announceErasure, Others: d.sharing.Forget, State: d.paths.Forget, Logger: d.logger,
		Retain: time.Duration(d.config.RetentionDays) * 24 * time.Hour,
		Files: append([]erasure.Files{
			{Name: "log", Purge: func(ctx context.Context, _ events.Position) error { return d.purgeLog(ctx) }},
			{Name: "views", Forget: d.views.Forget, Purge: func(ctx context.Context, _ events.Position) error { return d.views.Compact(ctx) }},
			{Name: "index", Forget: d.index.Forget, Purge: func(ctx context.Context, upTo events.Position) error {
				if err := d.index.WaitUnlessStopped(ctx, upTo); err != nil {
					return err
				}
				return d.index.Purge(ctx)
			}},
			{Name: "comparisons", Purge: func(ctx context.Context, _ events.Position) error { return d.paths.ClearScratch(ctx) }},
		}, d.vectorsFile()...),
	}
}

// purgeLog writes the log anew without what was erased, or, where it cannot all be read, zeros over what its file does not use.
func (d *daemon) purgeLog(ctx context.Context) error {
	err := d.log.Compact(ctx)
	if !errors.Is(err, events.ErrCorrupt) || d.log.Err() != nil {
		return err
	}
	d.logger.Warn("the log is damaged: what was erased is written over in its file, which does not become smaller", "err", err)
	return d.log.Scrub(ctx)
}

// busyPause is how long a session that hooks keep busy is left alone before it is asked again.
const busyPause = 50 * time.Millisecond

// doWhenNotBusy puts commands to a session, and waits while too much is on its way into the log: hooks go first.
func (d *daemon) doWhenNotBusy(ctx context.Context, id events.SessionID, cmds ...session.Command) (events.Position, error) {
	for {
		receipt, err := d.seenActors().Do(ctx, id, cmds...)
		if !errors.Is(err, actors.ErrBusy) {
			return receipt.Position, err
		}
		if err := sleep.For(ctx, busyPause); err != nil {
			return 0, err
		}
	}
}
