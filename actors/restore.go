package actors

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// searched is how many of the log's last records are searched, at the start of a life, for a failure that the last one
// did not rule on. The ruling is appended as soon as the failure is, so that only what others appended in between can
// stand behind it: this is what a fast disk takes in about a tenth of a second, and it is read in a hundredth.
const searched = 4096

// restore rules on the failure of a turn if a crash came between it and its ruling, before anybody is let in. What it
// does not find, because more was appended behind it, comes to light when the session that was held asks for a lease.
func (d *dispatcher) restore() {
	f, at, err := d.unruled()
	switch {
	case err != nil: // a damaged record is for whoever needs it to complain of
		d.sys.cfg.Logger.Warn("cannot tell whether a pause was lost; it is found when its session asks", "err", err)
	case f != nil:
		d.rule(f.Class, f.ResetsAt, at, f.Turn)
	}
}

// unruled returns the first failure by the provider's fault behind its last ruling, and when it was; nil: there is none.
// While the provider is paused only the failure of a probe counts.
func (d *dispatcher) unruled() (*events.TurnFailed, time.Time, error) {
	ctx := d.sys.ending
	last, err := d.sys.cfg.Log.Last(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	probes := map[events.ID]bool{}
	for r, err := range d.sys.cfg.Log.All(ctx, max(d.ruledAt, last-min(last, searched))+1) {
		if err != nil {
			return nil, time.Time{}, err
		}
		switch r.Kind {
		case events.KindTurnStarted:
			probes[r.Correlation] = !d.pause.Rests(r.OccurredAt)
		case events.KindTurnFailed:
			f, ok := d.failure(r)
			if ok && (!d.pause.Paused() || probes[f.Turn]) {
				return &f, r.OccurredAt, nil
			}
		}
	}
	return nil, time.Time{}, nil
}

// failure returns what r says of a failed turn, if the provider is to blame.
func (d *dispatcher) failure(r events.Record) (f events.TurnFailed, ok bool) {
	f = said[events.TurnFailed](r)
	return f, f.Class.BlamesProvider() && f.Provider == d.sys.cfg.Providers[0].Name()
}
