package union

import (
	"cmp"
	"context"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// noNumber is no log's number.
const noNumber = -1

// twinsOf says for each of some records of the log with number n, which follow each other, which other log's record at the same
// position it is: the number of the first log that has one with its id there, or none. Ids are random, and given once: that two logs have
// one at the same position says that one of them was copied from the other. The chains may differ, as they do behind what a salvage lost.
func (u *Union) twinsOf(ctx context.Context, n uint32, records []events.Record) ([]int, error) {
	twins := make([]int, len(records))
	for i := range twins {
		twins[i] = noNumber
	}
	for m, b := range u.bolts {
		if uint32(m) == n || b == nil || !related(ctx, b, records) {
			continue
		}
		have, _, _ := b.State()
		first, last := records[0].Position, min(have, records[len(records)-1].Position)
		if m != ownNumber { // what has no place, and waits for none, must not wait for these
			last = min(last, u.order.shown(uint32(m))+u.waiting(uint32(m)))
		}
		for r, err := range b.Between(ctx, first, last) {
			if err != nil {
				break // what cannot be read is nobody's twin
			}
			if i := int(r.Position - first); twins[i] == noNumber && r.ID == records[i].ID {
				twins[i] = m
			}
		}
	}
	return twins, ctx.Err()
}

// related reports whether a log has the first, the middle or the last of some records.
func related(ctx context.Context, b *eventlog.Bolt, records []events.Record) bool {
	for _, i := range []int{0, len(records) / 2, len(records) - 1} {
		if r, err := b.Get(ctx, records[i].Position); err == nil && r.ID == records[i].ID {
			return true
		}
	}
	return false
}

// comparedAtOnce is how many records are compared at once.
const comparedAtOnce = 4096

// twinsBetween is twinsOf, of the records that the copy with a number has from one position to another.
func (u *Union) twinsBetween(ctx context.Context, n uint32, first, last events.Position) (twins []int, err error) {
	for ; first <= last; first += comparedAtOnce {
		var part []events.Record
		for r, err := range u.bolts[n].Between(ctx, first, min(last, first+comparedAtOnce-1)) {
			if err != nil {
				return nil, copyErr(u.order.logs[n], err)
			}
			part = append(part, r)
		}
		more, err := u.twinsOf(ctx, n, part)
		if err != nil {
			return nil, err
		}
		twins = append(twins, more...)
	}
	return twins, nil
}

// hasTwins reports whether the own log has the records that the order says others have of it. An older log that took its place ends before
// them, or has another one where the last of them is; one that was salvaged may lack those that it names as lost.
func (u *Union) hasTwins(ctx context.Context) (bool, error) {
	var lost []events.Span
	looked := false
	for n, all := range u.order.twins {
		for _, t := range all {
			if t.of != ownNumber {
				continue
			}
			if !looked {
				lost, looked = lostIn(ctx, u.own), true
			}
			for _, s := range append(within(lost, t.first, t.last), events.Span{From: t.last, To: t.last}) {
				twins, err := u.twinsBetween(ctx, uint32(n), s.From, s.To)
				if err != nil || slices.ContainsFunc(twins, func(of int) bool { return of != ownNumber }) {
					return false, ctx.Err() // a copy that cannot be read is set aside
				}
			}
		}
	}
	return true, nil
}

// lostIn is where a log lacks records, sorted, by what it says of the salvages that it was made by. It is all of a log that does not say
// so any more.
func lostIn(ctx context.Context, log *eventlog.Bolt) (lost []events.Span) {
	for r, err := range log.Stream(ctx, events.Daemon, 1) {
		if err == nil && r.Kind != events.KindLogSalvaged && r.Kind != events.KindRecordLost {
			continue
		}
		var e events.Event
		if err == nil {
			e, err = r.Event()
		}
		salvaged, ok := e.(events.LogSalvaged)
		if err != nil || !ok { // a lost record may have been one that says so
			last, _, _ := log.State()
			return []events.Span{{From: 1, To: last}}
		}
		listed, end := uint64(0), events.Position(0)
		for _, s := range salvaged.LostAt {
			listed, end = listed+uint64(s.To-s.From)+1, s.To
		}
		lost = append(lost, salvaged.LostAt...)
		if listed < salvaged.Lost { // the list was cut
			lost = append(lost, events.Span{From: end + 1, To: r.Position})
		}
	}
	slices.SortFunc(lost, func(a, b events.Span) int { return cmp.Compare(a.From, b.From) })
	return lost
}

// within is what of sorted spans lies from one position to another.
func within(sorted []events.Span, first, last events.Position) (inside []events.Span) {
	for _, s := range sorted {
		if s.From > last {
			break
		}
		if s.To >= first {
			inside = append(inside, events.Span{From: max(s.From, first), To: min(s.To, last)})
		}
	}
	return inside
}

// split divides waits so that each is of records that are all of one other log, or of none. twins is of all their records, in their order.
func split(waits []wait, twins []int) (all []wait) {
	for _, w := range waits {
		for left := int(w.n); left > 0; {
			n := 1
			for n < left && twins[n] == twins[0] {
				n++
			}
			one := w
			if one.n = uint32(n); twins[0] != noNumber {
				one.twin, one.twinOf, one.needs, one.needsUnknown = true, uint32(twins[0]), nil, false
			}
			all, twins, left = append(all, one), twins[n:], left-n
		}
	}
	return all
}

// withTwins adds to places those where other copies have the same records.
func (u *Union) withTwins(at []events.Place) []events.Place {
	all := at[:len(at):len(at)]
	for _, p := range at {
		n, known := u.order.numberOf(p.Log)
		if !known {
			continue
		}
		for _, m := range u.order.sharing(n, p.Position) {
			if m != ownNumber && m != n {
				all = append(all, events.Place{Log: u.order.logs[m], Position: p.Position})
			}
		}
	}
	return all
}

// sharing returns the logs that have a log's record as theirs, that log among them.
func (o *order) sharing(log uint32, p events.Position) (logs []uint32) {
	at := o.at(log, p)
	for m := range o.logs {
		if uint32(m) == log || at > 0 && o.at(uint32(m), p) == at {
			logs = append(logs, uint32(m))
		}
	}
	return logs
}

// Same returns all places at which logs have the record that is at one: that place among them, and the own log's without a log.
func (u *Union) Same(at events.Place) (all []events.Place) {
	u.mu.Lock()
	o := u.order
	u.mu.Unlock()
	n, known := o.numberOf(at.Log)
	if !known {
		return []events.Place{at}
	}
	for _, m := range o.sharing(n, at.Position) {
		p := events.Place{Log: o.logs[m], Position: at.Position}
		if m == ownNumber {
			p.Log = events.LogID{}
		}
		all = append(all, p)
	}
	return all
}
