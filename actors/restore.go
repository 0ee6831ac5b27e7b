package actors

import (
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// searched is how many of the log's last records are searched, at the start of a life, for a failure that the last one
// did not rule on. The ruling is appended as soon as the failure is, so that only what others appended in between can
// stand behind it: this is what a fast disk takes in about a tenth of a second, and it is read in a hundredth.
const searched = 4096

// restore rules on the failures of turns if a crash came between them and their rulings, before anybody is let in. What
// it does not find, because more was appended behind it, comes to light when the session that was held asks for a lease.
func (d *dispatcher) restore() {
	found, err := d.unruled()
	if err != nil { // a damaged record is for whoever needs it to complain of
		d.sys.cfg.Logger.Warn("cannot tell whether a pause was lost; it is found when its session asks", "err", err)
		return
	}
	for _, f := range found {
		d.rule(d.circuits[f.Provider], f.Class, f.ResetsAt, f.at, f.Turn)
	}
}

// failure is a turn that failed by its provider's fault.
type failure struct {
	events.TurnFailed
	at time.Time
}

// unruled returns of each provider the first failure by its fault behind its last ruling. While it is paused only the
// failure of a probe counts: of a turn that began when the pause was over.
func (d *dispatcher) unruled() (found []failure, err error) {
	ctx := d.sys.ending
	last, err := d.sys.cfg.Log.Last(ctx)
	if err != nil {
		return nil, err
	}
	began, seen, rows := map[events.ID]events.Header{}, map[string]bool{}, newRows(d)
	for r, err := range d.sys.cfg.Log.All(ctx, max(d.firstRuled(), last-min(last, searched))+1) {
		if err != nil {
			return nil, err
		}
		rows.read(r)
		switch r.Kind {
		case events.KindTurnStarted:
			began[r.Correlation] = r.Header
		case events.KindTurnFailed:
			f := failure{said[events.TurnFailed](r), r.OccurredAt}
			p := d.circuits[f.Provider]
			if p == nil || seen[p.name] || r.Position < p.ruledAt || !f.Class.BlamesProvider() {
				continue
			}
			b := began[f.Turn]
			if !p.pause.Paused() || b.Position > p.ruledAt && !p.pause.Rests(b.OccurredAt) {
				seen[p.name] = true
				found = append(found, f)
			}
		}
	}
	return found, nil
}

// firstRuled is the least position of the circuits' last rulings.
func (d *dispatcher) firstRuled() events.Position {
	var rulings []events.Position
	for _, p := range d.circuits {
		rulings = append(rulings, p.ruledAt)
	}
	return slices.Min(rulings)
}

// rows folds, from the end of the last life, what circuits know of outputs and of turns that failed by their own fault.
type rows struct {
	circuits map[string]*circuit
	asked    map[events.ID]string // the provider of each turn
	settles  map[events.ID]int
}

func newRows(d *dispatcher) rows {
	return rows{circuits: d.circuits, asked: map[events.ID]string{}, settles: map[events.ID]int{}}
}

func (x rows) read(r events.Record) {
	if r.Kind == events.KindTurnStarted {
		e := said[events.TurnStarted](r)
		x.asked[e.Turn], x.settles[e.Turn] = e.Provider, len(e.Settles)
		return
	}
	p := x.circuits[x.asked[r.Correlation]]
	if p == nil || r.Position < p.ruledAt {
		return
	}
	switch r.Kind {
	case events.KindTurnReceived:
		p.heard(r.Position)
	case events.KindTurnFailed:
		e := said[events.TurnFailed](r)
		if e.Class.BlamesTurn() && !shortens(e.Class, x.settles[e.Turn]) {
			p.pause.Blamed++
		}
	case events.KindInputsDropped:
		if said[events.InputsDropped](r).Reason != events.DropPoison {
			p.pause.Blamed-- // the failure before it was its input's
		}
	}
}

// shortens reports whether a failure of class c, of a turn over n inputs, says no more than that less is to be asked at once.
func shortens(c events.FailureClass, n int) bool {
	return n > 1 && (c == events.FailOverflow || c == events.FailTruncated)
}
