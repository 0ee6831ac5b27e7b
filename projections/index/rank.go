package index

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"

	"github.com/cmemd/cmemd/events"
)

// What a score is made of, beside BM25; testkit/retrieval shows what other figures would do.
const (
	// sessionWeight is what the query's words are worth in the rest of a session: a memory is likelier the right one if
	// what surrounds it speaks of the rest of the question.
	sessionWeight = 0.7

	// neighbourWeight is what the two neighbours of a memory in its session are worth: an answer follows its question.
	neighbourWeight = 0.1

	// reorderedHits is how many of the best are brought into order by what stands next to them too: the same for every limit, so
	// that pages agree.
	reorderedHits = 300

	// dateWeight is what a date that the query names is worth beside a word as rare as it.
	dateWeight = 1

	// promptWeight lowers prompts: they say what was asked for, not what was found.
	promptWeight = 0.6

	// DefaultRecency prefers the recent by a tenth at most, halved every recencyHalf behind the newest hit.
	DefaultRecency = 0.1
	recencyHalf    = 30 * day
)

// day is the unit in which ages are told apart.
const day = 24 * time.Hour

// candidate is a document that may be among the best.
type candidate struct {
	segment int
	doc     uint32
	key     float64 // by which the best are chosen: the score, or the time
	ranked  bool    // among those that what stands next to them counts for
}

// before is below 0 if a comes before b in the answer. Where keys are equal the newer comes first.
func (s *search) before(a, b candidate) int {
	if a.key != b.key { // the rest need not be read from memory then
		return cmp.Compare(b.key, a.key)
	}
	x, y := s.cols[a.segment], s.cols[b.segment]
	return cmp.Or(cmp.Compare(y.at[b.doc], x.at[a.doc]), cmp.Compare(y.position[b.doc], x.position[a.doc]))
}

// offer keeps c if it may be among the best so far.
func (s *search) offer(c candidate) {
	if s.bar != nil && (c.key < s.bar.key || s.before(c, *s.bar) >= 0) {
		return
	}
	if s.best = append(s.best, c); len(s.best) == 2*s.want {
		s.cut(s.want)
		bar := slices.MaxFunc(s.best, s.before)
		s.bar = &bar
	}
}

// cut leaves the n best of the candidates, in any order.
func (s *search) cut(n int) {
	if len(s.best) > n {
		selectFirst(s.best, n, s.before)
		s.best = s.best[:n]
	}
}

// selectFirst brings the n elements of list that come before all others to its beginning, in any order. It is quickselect: whatever the
// order of list is, it takes a few comparisons an element, as its pivots are drawn by lot.
func selectFirst(list []candidate, n int, compare func(a, b candidate) int) {
	last, low, high := n-1, 0, len(list)-1
	for low < high {
		pivot, i, j := list[low+rand.IntN(high-low+1)], low, high
		for i <= j {
			for compare(list[i], pivot) < 0 {
				i++
			}
			for compare(list[j], pivot) > 0 {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case last <= j:
			high = j
		case last >= i:
			low = i
		default:
			low = high
		}
	}
}

// matched gives the documents of a segment that match.
func (s *search) matched(n int) iter.Seq[uint32] {
	if len(s.terms) == 0 && !s.nothing {
		return s.passed(n)
	}
	return slices.Values(s.found[n])
}

// counted gives the documents of a segment that match, and those that are counted with them.
func (s *search) counted(n int) iter.Seq[uint32] {
	if s.also == nil {
		return s.matched(n)
	}
	return func(yield func(uint32) bool) {
		for doc := range s.matched(n) {
			if !yield(doc) {
				return
			}
		}
		for _, doc := range s.also[n] {
			if !yield(doc) {
				return
			}
		}
	}
}

// alongside counts the documents at some positions that pass the filters and do not match.
func (s *search) alongside(positions []events.Position) {
	if len(positions) == 0 || len(s.terms) == 0 && !s.nothing {
		return // without words all that passes matches
	}
	wanted := make(map[events.Position]bool, len(positions))
	for _, p := range positions {
		wanted[p] = true
	}
	low, high := slices.Min(positions), slices.Max(positions)
	s.also = make([][]uint32, len(s.cols))
	for n, col := range s.cols {
		scores, gone := s.scoresOf(n), s.snap.Segments()[n].Deleted()
		for i, p := range col.position {
			doc := uint32(i)
			if p < low || p > high || !wanted[p] || scores[doc] != 0 || gone != nil && gone.Contains(doc) ||
				s.allow[n] != nil && !s.allow[n].Contains(doc) {
				continue
			}
			s.also[n] = append(s.also[n], doc)
		}
		s.total += len(s.also[n])
	}
}

// passedLast is passed by position, the last first.
func (s *search) passedLast(n int) iter.Seq[uint32] {
	allow, gone := s.allow[n], s.snap.Segments()[n].Deleted()
	return func(yield func(uint32) bool) {
		for _, doc := range s.cache.newestOf(s.cols[n]) {
			if (allow == nil || allow.Contains(doc)) && (gone == nil || !gone.Contains(doc)) && !yield(doc) {
				return
			}
		}
	}
}

// passed gives the documents of a segment that pass the filters.
func (s *search) passed(n int) iter.Seq[uint32] {
	if s.allow[n] != nil {
		return func(yield func(uint32) bool) { s.allow[n].Iterate(yield) }
	}
	gone := s.snap.Segments()[n].Deleted()
	return func(yield func(uint32) bool) {
		for doc := range uint32(len(s.cols[n].at)) {
			if (gone == nil || !gone.Contains(doc)) && !yield(doc) {
				return
			}
		}
	}
}

// choose fills best from the documents that match, and counts them.
func (s *search) choose(ctx context.Context) error {
	newest := int64(math.MinInt64)
	for n, col := range s.cols {
		for _, doc := range s.found[n] {
			newest = max(newest, col.at[doc])
		}
	}
	s.ages = newRecencyTable(newest, s.recency)
	s.weighDates()
	return s.segments(ctx, func(n int, _ *scorch.SegmentSnapshot) error {
		switch {
		case s.sort != Relevance:
			s.chooseByTime(n)
		default:
			s.chooseByScore(n)
		}
		return nil
	})
}

// chooseByTime looks at what passes the filters alone in an order near that of the answer: hardly any is offered that others push out.
func (s *search) chooseByTime(n int) {
	col, sign, docs := s.cols[n], 1.0, s.matched(n)
	switch {
	case s.sort == Oldest:
		sign = -1
	case len(s.terms) == 0 && !s.nothing:
		docs = s.passedLast(n)
	}
	for doc := range docs {
		s.offer(candidate{segment: n, doc: doc, key: sign * float64(col.at[doc])})
		s.total++
	}
}

func (s *search) chooseByScore(n int) {
	col, scores := s.cols[n], s.scoresOf(n)
	for _, doc := range s.found[n] {
		s.offer(candidate{segment: n, doc: doc, key: s.parts(col, doc, scores[doc]).Score})
	}
	s.total += len(s.found[n])
}

// weighDates computes what the dates of the query are worth: the fewer documents are of then, the more.
func (s *search) weighDates() {
	for _, m := range s.dates {
		n, docs := 0, 0
		for _, col := range s.cols {
			for _, at := range col.at {
				if m.holds(at) {
					n++
				}
			}
			docs += len(col.at)
		}
		s.onDate = append(s.onDate, dateWeight*rarity(float64(n), float64(docs)))
	}
}

// parts is what the score of a document is made of, but for what stands next to it.
func (s *search) parts(col *columns, doc uint32, words float32) (p Parts) {
	p.Words, p.Kind, p.Session = float64(words), 1, float64(words)
	if g := col.session[doc]; g != 0 {
		p.Session = float64(s.covered[g] / s.penalties[g])
	}
	p.Session *= sessionWeight
	if col.kind[doc] == Prompt {
		p.Kind = promptWeight
	}
	p.Recency = s.ages.boost(col.at[doc])
	for i, m := range s.dates {
		if m.holds(col.at[doc]) {
			p.Date = max(p.Date, float64(s.onDate[i]))
		}
	}
	p.Score = p.Words*p.Kind*(1+p.Recency) + p.Session + p.Date
	return p
}

// allParts is all that the score of a candidate is made of; nothing without a text.
func (s *search) allParts(c candidate) Parts {
	if len(s.terms) == 0 {
		return Parts{}
	}
	p := s.parts(s.cols[c.segment], c.doc, s.scoresOf(c.segment)[c.doc])
	if c.ranked {
		p.Near = s.neighbourScore(c.segment, c.doc)
		p.Score += p.Near
	}
	return p
}

// recencyTable is the preference for the recent, by whole days behind the newest hit.
type recencyTable struct {
	newest int64
	table  [512]float64
}

func newRecencyTable(newest int64, weight float64) *recencyTable {
	a := &recencyTable{newest: newest}
	for i := range a.table {
		a.table[i] = weight * math.Exp2(-float64(i)*float64(day)/float64(recencyHalf))
	}
	return a
}

func (a *recencyTable) boost(at int64) float64 {
	days := (a.newest - at) / day.Milliseconds()
	if days < 0 || days >= int64(len(a.table)) {
		return 0
	}
	return a.table[days]
}

// hits orders the candidates for the answer and reads their names. What stands next to a document only adds to its score,
// so that those that it counts for stay before the others.
func (s *search) hits(limit int) ([]Hit, error) {
	s.cut(s.want)
	if len(s.best) > reorderedHits {
		slices.SortFunc(s.best, s.before)
	}
	first := s.best[:min(reorderedHits, len(s.best))]
	if s.sort == Relevance {
		for i, c := range first {
			first[i].ranked = true
			first[i].key += s.neighbourScore(c.segment, c.doc)
		}
	}
	if limit < reorderedHits {
		s.cut(limit)
		first = s.best
	}
	slices.SortFunc(first, s.before)
	s.best = s.best[:min(limit, len(s.best))]
	out := make([]Hit, len(s.best))
	for i, c := range s.best {
		r, err := refOf(s.snap.Segments()[c.segment], uint64(c.doc))
		if err != nil {
			return nil, err
		}
		out[i] = Hit{ID: r.id, Kind: r.kind, Position: r.position, At: r.at, Score: c.key}
		if s.sort != Relevance {
			out[i].Score = s.allParts(c).Score
		}
	}
	return out, nil
}

// neighbourScore is what the neighbours of a document in its session are worth.
func (s *search) neighbourScore(n int, doc uint32) (score float64) {
	col := s.cols[n]
	if col.session[doc] == 0 {
		return 0
	}
	for _, step := range []int{-1, 1} {
		if other, ok := col.next(doc, step); ok {
			score += float64(s.scoresOf(n)[other])
		}
	}
	return neighbourWeight * score
}
