package salvage

import (
	"cmp"
	"slices"

	"github.com/cmemd/cmemd/events"
)

const (
	// A log has more lost records than these, beside some for each that was found, only if a position was made up.
	maxLostBase     = 1 << 18
	maxLostPerFound = 64
)

// verdict is what can be said of a record.
type verdict uint8

const (
	damaged  verdict = iota // it does not agree with what else is there
	unproved                // nothing is there to check it against
	proved                  // the chain of its stream holds it
)

// slot is what stands at a position.
type slot struct {
	found
	verdict verdict
	chain   events.Hash // as the next of its stream must be chained to
	behind  bool        // damaged is only that it lies behind the log's end: the chain of its stream holds it
}

// validator chooses what stands at each position.
type validator struct {
	tree
	names  []events.StreamID
	all    []found // by position
	header func(found) (events.Record, error)
	slots  map[events.Position]slot
	tails  map[int32]events.Position // of each stream: the last that is believed
	next   map[events.Position]int   // the index of a record that points back here, plus 1
}

// merged sorts all by position and makes one of the copies of the same record. Erased once is erased.
func merged(all []found) []found {
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.print, b.print)) })
	out := all[:0]
	for _, f := range all {
		if n := len(out); n == 0 || out[n-1].at != f.at || out[n-1].print != f.print {
			out = append(out, f)
			continue
		}
		before := out[len(out)-1]
		better := before
		if !before.whole && f.whole || !before.erased && f.erased {
			better = f
		}
		better.erased, better.live = before.erased || f.erased, before.live || f.live
		out[len(out)-1] = better
	}
	return out
}

// plausible leaves out positions that no log of this size can have.
func plausible(all []found) []found {
	room := uint64(maxLostBase + maxLostPerFound*len(all))
	last := events.Position(0)
	for i, f := range all {
		if f.at > last+1 {
			gap := uint64(f.at - last - 1)
			if gap > room {
				return all[:i]
			}
			room -= gap
		}
		last = f.at
	}
	return all
}

// run validates all, and returns the log's last position.
func (v *validator) run() (last events.Position) {
	v.slots, v.tails, v.next = map[events.Position]slot{}, map[int32]events.Position{}, map[events.Position]int{}
	v.all = plausible(merged(v.all))
	for i, f := range v.all {
		if f.previous > 0 && f.previous < f.at && (f.live || v.next[f.previous] == 0) {
			v.next[f.previous] = i + 1
		}
	}
	for i := 0; i < len(v.all); {
		n := i + 1
		for n < len(v.all) && v.all[n].at == v.all[i].at {
			n++
		}
		v.choose(v.all[i:n])
		i = n
	}
	v.inOrder()
	for at, s := range v.slots {
		if s.verdict != damaged {
			last = max(last, at)
		}
	}
	return v.logEnd(last)
}

// logEnd is last, or where the file says that the log ends, if two places of it say so.
func (v *validator) logEnd(last events.Position) events.Position {
	sequence := events.Position(v.Sequences["log"])
	for _, h := range v.heads {
		if h.last == sequence && sequence > last && uint64(sequence-last) <= maxLostBase {
			return sequence
		}
	}
	return last
}

// choose lets one of the records found for a position stand there: one that is proved; else one that the tree leads to, or that the next
// of its stream is chained to; else the latest. Where all are damaged the chain of one may still prove the next. Copies of the record that
// differ in their chains alone, one of which is damaged, have their payload in common, and that it was erased.
func (v *validator) choose(some []found) {
	var best slot
	rank := func(s slot) int {
		n := 8 * int(s.verdict)
		if s.live {
			n += 4
		}
		if len(some) > 1 && v.continued(s) {
			n += 2
		}
		return n
	}
	for i, f := range some {
		r, err := v.header(f)
		if err != nil {
			continue // the disk gave it once and does not any more
		}
		s := v.validate(f, r)
		if i == 0 || best.at == 0 || cmp.Or(cmp.Compare(rank(s), rank(best)), cmp.Compare(s.recorded, best.recorded)) > 0 {
			best = s
		}
	}
	if best.at == 0 {
		return
	}
	for _, f := range some {
		if f.same != best.same {
			continue
		}
		if f.whole && !best.whole {
			best.offset, best.size, best.whole = f.offset, f.size, true
		}
		best.erased = best.erased || f.erased
	}
	v.slots[best.at] = best
	if best.verdict != damaged {
		v.tails[best.stream] = best.at
	}
}

// validate says what can be said of f, whose header is that of r.
func (v *validator) validate(f found, r events.Record) slot {
	s := slot{found: f, chain: r.Chain}
	before, known := v.slots[f.previous]
	if f.previous == 0 {
		before, known = slot{verdict: proved}, true
	}
	if !v.committed(f) {
		s.behind = known && f.previous < f.at && events.NextChain(before.chain, r.Header) == r.Chain
		return s
	}
	if !known || f.previous >= f.at {
		s.verdict = v.alone(f, r)
		return s
	}
	chain := events.NextChain(before.chain, r.Header)
	switch {
	case chain == r.Chain && (f.previous > 0 || f.version == 1):
		s.verdict = proved
		v.disprove(before, f)
	case before.verdict == damaged:
		s.verdict = v.alone(f, r)
	case v.confirmed(f, chain): // the chain alone is damaged
		s.verdict, s.chain = proved, chain
	case before.verdict == unproved && v.confirmed(f, r.Chain): // that of the one before is
		s.verdict = v.alone(f, r)
	}
	return s
}

// committed reports whether f may be of the log: what lies behind its end where the tree does not lead was written by a commit that
// failed.
func (v *validator) committed(f found) bool {
	sequence, known := v.Sequences["log"]
	return f.live || !known || v.Metas < 2 || uint64(f.at) <= sequence
}

// alone validates a record whose predecessor is lost.
func (v *validator) alone(f found, r events.Record) verdict {
	if _, known := r.Kind.Traits(); !known || f.previous >= f.at || f.version < 2 || f.previous == 0 {
		return damaged
	}
	tail, ok := v.tails[f.stream]
	if !ok {
		return unproved
	}
	t := v.slots[tail]
	if t.at > f.previous || t.at == f.previous && t.version+1 != f.version || t.at < f.previous && t.version+1 >= f.version {
		return damaged
	}
	return unproved
}

// disprove takes back the belief in the record before f where f is chained to it and it says that it is of another stream or version.
func (v *validator) disprove(before slot, f found) {
	if before.at == 0 || before.verdict != unproved || before.stream == f.stream && before.version+1 == f.version {
		return
	}
	before.verdict = damaged
	v.slots[before.at] = before
	if v.tails[before.stream] == before.at {
		delete(v.tails, before.stream)
	}
}

// confirmed reports whether what follows f in its stream, or the head of that, has chain for f's.
func (v *validator) confirmed(f found, chain events.Hash) bool {
	if h, ok := v.heads[v.names[f.stream]]; ok && h == (end{f.version, f.at, chain}) {
		return true
	}
	return v.hasSuccessor(f, chain)
}

// continued reports whether the next record of its stream is chained to s.
func (v *validator) continued(s slot) bool {
	return v.hasSuccessor(s.found, s.chain)
}

func (v *validator) hasSuccessor(f found, chain events.Hash) bool {
	i := v.next[f.at]
	if i == 0 {
		return false
	}
	g := v.all[i-1]
	r, err := v.header(g)
	return err == nil && g.stream == f.stream && g.version == f.version+1 && events.NextChain(chain, r.Header) == r.Chain
}

// inOrder takes back the belief in unproved records whose times are not between those of their neighbours.
func (v *validator) inOrder() {
	var order []events.Position
	for _, f := range v.all {
		if s := v.slots[f.at]; s.verdict != damaged && (len(order) == 0 || order[len(order)-1] != f.at) {
			order = append(order, f.at)
		}
	}
	latest := int64(1<<63 - 1)
	for _, at := range slices.Backward(order) {
		switch s := v.slots[at]; {
		case s.verdict == proved:
			latest = min(latest, s.recorded)
		case s.recorded > latest:
			s.verdict = damaged
			v.slots[at] = s
		}
	}
	earliest := int64(-1 << 63)
	for _, at := range order {
		s := v.slots[at]
		if s.verdict == damaged {
			continue
		}
		if s.recorded < earliest {
			s.verdict = damaged
			v.slots[at] = s
			continue
		}
		earliest = s.recorded
	}
}

// place is where a lost record was.
type place struct {
	stream  events.StreamID
	version events.Version
}

// placesOfLost says of lost records what those that point back to them say, and the heads of streams.
func (v *validator) placesOfLost() map[events.Position]place {
	lost := map[events.Position]place{}
	note := func(at events.Position, p place) {
		if s, ok := v.slots[at]; at > 0 && (!ok || s.verdict == damaged) {
			lost[at] = p
		}
	}
	for stream, h := range v.heads {
		if stream != "" && stream[0] > ' ' {
			note(h.last, place{stream, h.version})
		}
	}
	for _, s := range v.slots {
		if s.verdict != damaged && s.version > 1 {
			note(s.previous, place{v.names[s.stream], s.version - 1})
		}
	}
	return lost
}
