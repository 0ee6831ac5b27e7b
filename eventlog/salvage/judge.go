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

// judge chooses what stands at each position.
type judge struct {
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

// run judges all, and returns the log's last position.
func (j *judge) run() (last events.Position) {
	j.slots, j.tails, j.next = map[events.Position]slot{}, map[int32]events.Position{}, map[events.Position]int{}
	j.all = plausible(merged(j.all))
	for i, f := range j.all {
		if f.previous > 0 && f.previous < f.at && (f.live || j.next[f.previous] == 0) {
			j.next[f.previous] = i + 1
		}
	}
	for i := 0; i < len(j.all); {
		n := i + 1
		for n < len(j.all) && j.all[n].at == j.all[i].at {
			n++
		}
		j.choose(j.all[i:n])
		i = n
	}
	j.inOrder()
	for at, s := range j.slots {
		if s.verdict != damaged {
			last = max(last, at)
		}
	}
	return j.logEnd(last)
}

// logEnd is last, or where the file says that the log ends, if two places of it say so.
func (j *judge) logEnd(last events.Position) events.Position {
	sequence := events.Position(j.Sequences["log"])
	for _, h := range j.heads {
		if h.last == sequence && sequence > last && uint64(sequence-last) <= maxLostBase {
			return sequence
		}
	}
	return last
}

// choose lets one of the records found for a position stand there: one that is proved; else one that the tree leads to, or that the next
// of its stream is chained to; else the latest. Where all are damaged the chain of one may still prove the next. Copies of the record that
// differ in their chains alone, one of which is damaged, have their payload in common, and that it was erased.
func (j *judge) choose(some []found) {
	var best slot
	rank := func(s slot) int {
		n := 8 * int(s.verdict)
		if s.live {
			n += 4
		}
		if len(some) > 1 && j.continued(s) {
			n += 2
		}
		return n
	}
	for i, f := range some {
		r, err := j.header(f)
		if err != nil {
			continue // the disk gave it once and does not any more
		}
		s := j.judge(f, r)
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
	j.slots[best.at] = best
	if best.verdict != damaged {
		j.tails[best.stream] = best.at
	}
}

// judge says what can be said of f, whose header is that of r.
func (j *judge) judge(f found, r events.Record) slot {
	s := slot{found: f, chain: r.Chain}
	before, known := j.slots[f.previous]
	if f.previous == 0 {
		before, known = slot{verdict: proved}, true
	}
	if !j.committed(f) {
		s.behind = known && f.previous < f.at && events.NextChain(before.chain, r.Header) == r.Chain
		return s
	}
	if !known || f.previous >= f.at {
		s.verdict = j.alone(f, r)
		return s
	}
	chain := events.NextChain(before.chain, r.Header)
	switch {
	case chain == r.Chain && (f.previous > 0 || f.version == 1):
		s.verdict = proved
		j.disprove(before, f)
	case before.verdict == damaged:
		s.verdict = j.alone(f, r)
	case j.confirmed(f, chain): // the chain alone is damaged
		s.verdict, s.chain = proved, chain
	case before.verdict == unproved && j.confirmed(f, r.Chain): // that of the one before is
		s.verdict = j.alone(f, r)
	}
	return s
}

// committed reports whether f may be of the log: what lies behind its end where the tree does not lead was written by a commit that
// failed.
func (j *judge) committed(f found) bool {
	sequence, known := j.Sequences["log"]
	return f.live || !known || j.Metas < 2 || uint64(f.at) <= sequence
}

// alone judges a record whose predecessor is lost.
func (j *judge) alone(f found, r events.Record) verdict {
	if _, known := r.Kind.Traits(); !known || f.previous >= f.at || f.version < 2 || f.previous == 0 {
		return damaged
	}
	tail, ok := j.tails[f.stream]
	if !ok {
		return unproved
	}
	t := j.slots[tail]
	if t.at > f.previous || t.at == f.previous && t.version+1 != f.version || t.at < f.previous && t.version+1 >= f.version {
		return damaged
	}
	return unproved
}

// disprove takes back the belief in the record before f where f is chained to it and it says that it is of another stream or version.
func (j *judge) disprove(before slot, f found) {
	if before.at == 0 || before.verdict != unproved || before.stream == f.stream && before.version+1 == f.version {
		return
	}
	before.verdict = damaged
	j.slots[before.at] = before
	if j.tails[before.stream] == before.at {
		delete(j.tails, before.stream)
	}
}

// confirmed reports whether what follows f in its stream, or the head of that, has chain for f's.
func (j *judge) confirmed(f found, chain events.Hash) bool {
	if h, ok := j.heads[j.names[f.stream]]; ok && h == (end{f.version, f.at, chain}) {
		return true
	}
	return j.hasSuccessor(f, chain)
}

// continued reports whether the next record of its stream is chained to s.
func (j *judge) continued(s slot) bool {
	return j.hasSuccessor(s.found, s.chain)
}

func (j *judge) hasSuccessor(f found, chain events.Hash) bool {
	i := j.next[f.at]
	if i == 0 {
		return false
	}
	g := j.all[i-1]
	r, err := j.header(g)
	return err == nil && g.stream == f.stream && g.version == f.version+1 && events.NextChain(chain, r.Header) == r.Chain
}

// inOrder takes back the belief in unproved records whose times are not between those of their neighbours.
func (j *judge) inOrder() {
	var order []events.Position
	for _, f := range j.all {
		if s := j.slots[f.at]; s.verdict != damaged && (len(order) == 0 || order[len(order)-1] != f.at) {
			order = append(order, f.at)
		}
	}
	latest := int64(1<<63 - 1)
	for _, at := range slices.Backward(order) {
		switch s := j.slots[at]; {
		case s.verdict == proved:
			latest = min(latest, s.recorded)
		case s.recorded > latest:
			s.verdict = damaged
			j.slots[at] = s
		}
	}
	earliest := int64(-1 << 63)
	for _, at := range order {
		s := j.slots[at]
		if s.verdict == damaged {
			continue
		}
		if s.recorded < earliest {
			s.verdict = damaged
			j.slots[at] = s
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
func (j *judge) placesOfLost() map[events.Position]place {
	lost := map[events.Position]place{}
	note := func(at events.Position, p place) {
		if s, ok := j.slots[at]; at > 0 && (!ok || s.verdict == damaged) {
			lost[at] = p
		}
	}
	for stream, h := range j.heads {
		if stream != "" && stream[0] > ' ' {
			note(h.last, place{stream, h.version})
		}
	}
	for _, s := range j.slots {
		if s.verdict != damaged && s.version > 1 {
			note(s.previous, place{j.names[s.stream], s.version - 1})
		}
	}
	return lost
}
