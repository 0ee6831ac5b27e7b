package union

import (
	"math"
	"slices"
	"time"

	"github.com/cmemd/cmemd/events"
)

// wait is records of a copy that have no place in the order yet.
type wait struct {
	log          uint32
	n            uint32
	since        time.Time
	needs        []need
	needsUnknown bool // what they need is not known: the program ended just after they came
	twin         bool // they are records of another log, whose number is of, at the same positions
	twinOf       uint32
}

type need struct {
	log uint32
	at  events.Position
}

// ready reports whether w may have a place behind o, whose own log ends at last.
func (w wait) ready(o *order, last events.Position, now time.Time, longest time.Duration) bool {
	if w.twin { // those came before these, and have a place in time
		return o.at(w.twinOf, o.shown(w.log)+events.Position(w.n)) > 0
	}
	if now.Sub(w.since) >= longest {
		return true
	}
	return !w.needsUnknown && !slices.ContainsFunc(w.needs, func(n need) bool {
		if n.log == ownNumber {
			return last < n.at
		}
		return o.shown(n.log) < n.at
	})
}

// reached reports whether all that w needs is there, where logs are there as far as until says. Records of its log stand up to before.
func (w wait) reached(before events.Position, until func(log uint32) events.Position) bool {
	if w.twin {
		return until(w.twinOf) >= before+events.Position(w.n)
	}
	return !w.needsUnknown && !slices.ContainsFunc(w.needs, func(n need) bool { return until(n.log) < n.at })
}

// waitCycle returns one of some waits that would wait for itself: what it needs is here, and waits for others, and those for it. It is -1
// where there is none. It is the next of its log.
func waitCycle(o *order, waits []wait, last events.Position) int {
	end := closed(o, waits, last)
	first := map[uint32]int{}
	at := -1
	for i, w := range waits {
		if _, ok := first[w.log]; ok {
			continue
		}
		if first[w.log] = i; at < 0 && end[w.log] > o.shown(w.log) {
			at = i
		}
	}
	for steps := 0; at >= 0 && steps < 2*len(first); steps++ { // after as many steps as there are logs it is in a circle
		if steps >= len(first) && !waits[at].twin {
			return at
		}
		at = first[waits[at].missingLog(o)]
	}
	return -1
}

// missingLog is a log of which w needs what has no place yet. There must be one.
func (w wait) missingLog(o *order) uint32 {
	if w.twin {
		return w.twinOf
	}
	return w.needs[slices.IndexFunc(w.needs, func(n need) bool { return n.log != ownNumber && o.shown(n.log) < n.at })].log
}

// closed is up to where each log that waits is here with all that it needs.
func closed(o *order, waits []wait, last events.Position) map[uint32]events.Position {
	end := map[uint32]events.Position{}
	for _, w := range waits {
		end[w.log] = math.MaxUint64
	}
	until := func(log uint32) events.Position {
		to, here := end[log]
		switch {
		case here:
			return to
		case log == ownNumber:
			return last
		}
		return o.shown(log)
	}
	for changed := true; changed; {
		changed = false
		next, stopped := map[uint32]events.Position{}, map[uint32]bool{}
		for _, w := range waits {
			if _, ok := next[w.log]; !ok {
				next[w.log] = o.shown(w.log)
			}
			if stopped[w.log] = stopped[w.log] || !w.reached(next[w.log], until); !stopped[w.log] {
				next[w.log] += events.Position(w.n)
			}
		}
		for log, to := range next {
			changed = changed || to < end[log]
		}
		end = next
	}
	return end
}

// entries is what the journal says of w.
func (w wait) entries() (all []entry) {
	for _, n := range w.needs {
		all = append(all, entry{kind: kindNeed, log: n.log, a: uint64(n.at)})
	}
	e := entry{kind: kindWaits, log: w.log, n: w.n, b: uint64(w.since.UnixNano())}
	if w.twin {
		e.a = uint64(w.twinOf) + 1
	}
	return append(all, e)
}

// placed returns the order in which w has its place, and what the journal says of it.
func (w wait) placed(o *order, after events.Position, known int64) (*order, entry) {
	if w.twin {
		return o.same(w.log, w.n, w.twinOf), entry{kind: kindSame, log: w.log, n: w.n, a: uint64(w.twinOf)}
	}
	return o.place(w.log, w.n, after, known), entry{kind: kindRun, log: w.log, n: w.n, a: uint64(after), b: uint64(known)}
}

// copyState is what else the journal says of a copy.
type copyState struct {
	erased  map[events.Position]bool // for ever: the records may come again
	unclean bool                     // the file may have a trace of what was erased
	trimmed events.Position          // up to here raw payloads are withheld
	damaged bool
}

func (k *copyState) erase(positions []events.Position) {
	if k.erased == nil {
		k.erased = map[events.Position]bool{}
	}
	for _, p := range positions {
		k.erased[p] = true
	}
	k.unclean = true
}

// folded is what a journal says.
type folded struct {
	id         events.LogID // of the order
	order      *order
	waits      []wait
	copyStates []copyState
	bad        bool // it is not what a journal says: what is in logs and copyStates may still be used
}

// fold reads entries in their order. It is pure.
func fold(all []entry) folded {
	f := folded{order: newOrder(make([]events.LogID, 1)), copyStates: make([]copyState, 1)}
	var needs []need
	for _, e := range all {
		known := e.log != ownNumber && int(e.log) < len(f.copyStates)
		switch e.kind {
		case kindOwn:
			f.order.logs[ownNumber] = e.id()
		case kindOrder:
			f.id = e.id()
		case kindLog:
			f.bad = f.bad || int(e.log) != len(f.copyStates)
			if int(e.log) < len(f.copyStates)+len(all) { // else it is none that we wrote
				f.list(e.log, e.id())
			}
		case kindNeed:
			needs = append(needs, need{log: e.log, at: events.Position(e.a)})
			f.bad = f.bad || int(e.log) >= len(f.copyStates)
		default:
			if !known {
				f.bad = true
				continue
			}
			needs = f.add(e, needs)
		}
	}
	f.bad = f.bad || f.id.IsZero() || f.order.logs[ownNumber].IsZero()
	return f
}

// list gives a log its number, which is the next one unless entries are missing.
func (f *folded) list(n uint32, id events.LogID) {
	for int(n) >= len(f.copyStates) {
		f.order, f.copyStates = f.order.with(events.LogID{}), append(f.copyStates, copyState{})
	}
	f.order.logs[n] = id
}

// add takes what an entry says of one other log, and returns which needs are left for the next run that waits.
func (f *folded) add(e entry, needs []need) []need {
	k := &f.copyStates[e.log]
	switch e.kind {
	case kindRun:
		if e.n == 0 || events.Position(e.a) < f.order.least() {
			f.bad = true
			return nil
		}
		f.order = f.order.place(e.log, e.n, events.Position(e.a), int64(e.b))
		f.waited(e.log)
	case kindSame:
		if e.n == 0 || e.a >= uint64(len(f.copyStates)) || e.a == uint64(e.log) {
			f.bad = true
			return nil
		}
		f.order = f.order.same(e.log, e.n, uint32(e.a))
		f.waited(e.log)
	case kindWaits:
		w := wait{log: e.log, n: e.n, since: time.Unix(0, int64(e.b)), needs: needs}
		if w.twin = e.a > 0; w.twin {
			w.twinOf = uint32(e.a - 1)
			f.bad = f.bad || e.a > uint64(len(f.copyStates)) || w.twinOf == w.log
		}
		f.waits = append(f.waits, w)
		return nil
	case kindErased:
		k.erase([]events.Position{events.Position(e.a)})
	case kindClean:
		k.unclean = false
	case kindTrimmed:
		k.trimmed = events.Position(e.a)
	case kindDamaged:
		k.damaged = true
	default:
		f.bad = true
	}
	return needs
}

// waited takes the first run of a log that waits away: it has its place.
func (f *folded) waited(log uint32) {
	if i := slices.IndexFunc(f.waits, func(w wait) bool { return w.log == log }); i >= 0 {
		f.waits = slices.Delete(f.waits, i, i+1)
	}
}

// runs is what a journal says of an order, in as few entries as it can be said.
func (o *order) runs() (all []entry) {
	after := events.Position(0)
	added := make([]int, len(o.logs)) // how many twins of each log
	twins := func(log uint32, before events.Position) {
		for ; added[log] < len(o.twins[log]); added[log]++ {
			t := o.twins[log][added[log]]
			if t.first >= before {
				return
			}
			all = append(all, entry{kind: kindSame, log: log, n: uint32(t.last - t.first + 1), a: uint64(t.of)})
		}
	}
	defer func() {
		for log := range o.logs {
			twins(uint32(log), math.MaxUint64)
		}
	}()
	for i, s := range o.stretches {
		n := o.to(i) - s.at + 1
		if s.log == ownNumber {
			after = s.first + n - 1
			continue
		}
		twins(s.log, s.first)
		all = append(all, entry{kind: kindRun, log: s.log, n: uint32(n), a: uint64(after), b: uint64(s.known)})
	}
	return all
}
