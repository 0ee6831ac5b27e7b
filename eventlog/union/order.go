package union

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/cmemd/cmemd/events"
)

// ownNumber is the number of the own log.
const ownNumber = 0

// samePeriod is how far apart records of one log may have become known, one behind the other, and still be one
// stretch: what is remembered of an order grows by this, and recorded_at is exact to this.
const samePeriod = time.Minute

// stretch is records of one log that follow each other in the order, up to the next stretch.
type stretch struct {
	log   uint32          // its number
	at    events.Position // of the first, in the order
	first events.Position // of the same, in its log
	known int64           // when they became known here, in Unix nanoseconds; own records not before that
}

// order is which records of which logs follow each other. It never changes: place makes the next one, which shares its memory. So
// only the newest may be placed behind, by one goroutine at a time; anybody may read any.
type order struct {
	logs      []events.LogID // by number; the own one comes first
	stretches []stretch      // each ends where the next begins, and the last where tail does
	of        [][]int32      // for each log, which stretches are of it
	twins     [][]twin       // for each log, which of its records are another's
	tail      stretch        // of the own log: it grows
}

// twin is records of a log that are another log's, at the same positions: they have the places of those. A home that was copied, or
// restored from a backup, and goes on as another log has such records.
type twin struct {
	first, last events.Position
	of          uint32 // the other log's number
}

// newOrder is the order of the own log alone: its own.
func newOrder(logs []events.LogID) *order {
	return &order{
		logs: logs, of: make([][]int32, len(logs)), twins: make([][]twin, len(logs)),
		tail: stretch{log: ownNumber, at: 1, first: 1, known: math.MinInt64},
	}
}

// place returns the order in which the next n records of log follow the own record at after, which must not be before where they may be
// placed; see least. They became known at known, or with what was placed last if that is later.
func (o *order) place(log uint32, n uint32, after events.Position, known int64) *order {
	next := *o
	next.of = slices.Clone(o.of)
	known = max(known, o.tail.known)
	if after >= o.tail.first {
		next.push(o.tail)
		next.tail.at += after - o.tail.first + 1
		next.tail.first = after + 1
	}
	if first := o.shown(log) + 1; !next.continues(log, first, known) {
		next.push(stretch{log: log, at: next.tail.at, first: first, known: known})
		next.tail.known = known
	}
	next.tail.at += events.Position(n)
	return &next
}

// continues reports whether a log's record at first would stand in the last stretch.
func (o *order) continues(log uint32, first events.Position, known int64) bool {
	last := len(o.stretches) - 1
	if last < 0 {
		return false
	}
	s := o.stretches[last]
	return s.log == log && s.first+o.to(last)-s.at+1 == first && known-s.known < int64(samePeriod)
}

// same returns the order in which the next n records of log are those that another one has at the same positions.
func (o *order) same(log uint32, n uint32, of uint32) *order {
	next := *o
	next.twins = slices.Clone(o.twins)
	t := twin{first: o.shown(log) + 1, last: o.shown(log) + events.Position(n), of: of}
	all := slices.Clone(o.twins[log])
	if i := len(all) - 1; i >= 0 && all[i].of == of && all[i].last+1 == t.first {
		all[i].last = t.last
	} else {
		all = append(all, t)
	}
	next.twins[log] = all
	return &next
}

func (o *order) push(s stretch) {
	o.of[s.log] = append(o.of[s.log], int32(len(o.stretches)))
	o.stretches = append(o.stretches, s)
}

// least is the own record behind which records may be placed: 0 is the beginning.
func (o *order) least() events.Position { return o.tail.first - 1 }

// end is the position of the last record of an order whose own log ends at last.
func (o *order) end(last events.Position) events.Position {
	if last < o.tail.first {
		return o.tail.at - 1
	}
	return o.tail.at + last - o.tail.first
}

// to is the position of the last record of the stretch with index i.
func (o *order) to(i int) events.Position {
	if i+1 < len(o.stretches) {
		return o.stretches[i+1].at - 1
	}
	return o.tail.at - 1
}

// find returns the stretch that the record at a position is in, and the position of the last one in it.
func (o *order) find(at events.Position) (s stretch, to events.Position) {
	if at >= o.tail.at {
		return o.tail, math.MaxUint64
	}
	i := sort.Search(len(o.stretches), func(i int) bool { return o.stretches[i].at > at }) - 1
	return o.stretches[i], o.to(i)
}

// locate returns the stretch that a log's record is in, and the record's position in the order. It is false where that
// has no place yet.
func (o *order) locate(log uint32, p events.Position) (s stretch, at events.Position, ok bool) {
	if int(log) >= len(o.of) || p == 0 || p > math.MaxInt64 {
		return stretch{}, 0, false
	}
	for _, t := range o.twins[log] {
		if t.first <= p && p <= t.last {
			return o.locate(t.of, p)
		}
	}
	if log == ownNumber && p >= o.tail.first {
		return o.tail, o.tail.at + p - o.tail.first, true
	}
	of := o.of[log]
	i := sort.Search(len(of), func(i int) bool { return o.stretches[of[i]].first > p }) - 1
	if i < 0 {
		return stretch{}, 0, false
	}
	s = o.stretches[of[i]]
	at = s.at + p - s.first
	return s, at, at <= o.to(int(of[i]))
}

// at is the position in the order of a log's record; 0 where it has none.
func (o *order) at(log uint32, p events.Position) events.Position {
	if _, at, ok := o.locate(log, p); ok {
		return at
	}
	return 0
}

// shown is the last record of another log that has a place, in that log.
func (o *order) shown(log uint32) (last events.Position) {
	if of := o.of[log]; len(of) > 0 {
		i := int(of[len(of)-1])
		s := o.stretches[i]
		last = s.first + o.to(i) - s.at
	}
	if twins := o.twins[log]; len(twins) > 0 {
		last = max(last, twins[len(twins)-1].last)
	}
	return last
}

// before is the last record of another log that has a place before a position of the order, in that log; 0 where none has. Of records that
// have places of others it may be a later one.
func (o *order) before(log uint32, at events.Position) (last events.Position) {
	of := o.of[log]
	if i := sort.Search(len(of), func(i int) bool { return o.stretches[of[i]].at >= at }); i > 0 {
		s := o.stretches[of[i-1]]
		last = s.first + min(o.to(int(of[i-1])), at-1) - s.at
	}
	for _, t := range o.twins[log] {
		if first := o.at(t.of, t.first); first > 0 && first < at {
			last = max(last, t.last)
		}
	}
	return last
}

// with is the order with another log, that has no records yet.
func (o *order) with(log events.LogID) *order {
	next := *o
	next.logs = append(slices.Clone(o.logs), log)
	next.of = append(slices.Clone(o.of), nil)
	next.twins = append(slices.Clone(o.twins), nil)
	return &next
}

// number is a log's; false where it has none.
func (o *order) number(log events.LogID) (uint32, bool) {
	i := slices.Index(o.logs, log)
	return uint32(i), i >= 0
}

// numberOf is number, where zero is the own log too.
func (o *order) numberOf(log events.LogID) (uint32, bool) {
	if log.IsZero() {
		return ownNumber, true
	}
	return o.number(log)
}
