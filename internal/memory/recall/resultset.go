package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// head is how many of what the index found first are brought into the order in which they are shown by what the index
	// does not know: words that stand together, and what vectors found. It is the same for every page, so that pages agree.
	head = 100

	// maxFolded is how many rows are looked at for others that say nearly the same. Behind them each row stands for itself:
	// that bounds what a search costs in which everything says the same.
	maxFolded = 1000

	// slice is how many rows are read at once.
	slice = 24
)

// resultSet is the one order in which all rows that match a query are shown, made as far as a page needs it: a longer part of
// it begins with every shorter one. Of an entry its first row is shown.
type resultSet struct {
	r     *Recall
	q     Query
	iq    index.Query
	then  moment
	words []string           // to look for where they stand together; none where that does not count
	seen  map[events.ID]bool // rows that were looked at, and whether only vectors had found them
	folds folds
	place map[events.ID]int  // of what is shown, in shown; of what is folded: of what stands for it
	entry map[rows.Entry]int // of the entries that are shown, in shown

	found    index.Result
	facets   *index.Facets
	next     int   // the first of found's hits that is not looked at
	waiting  []hit // live, the best first: what is not looked at yet may come before
	shown    []hit // in order
	hidden   int   // of what matches, and is not shown
	semantic semanticHits
	byWords  int // of shown: found by words
	places   int // that are taken in the longer one of the lists that were fused
}

func newResultSet(r *Recall, q Query, iq index.Query, then moment, semantic semanticHits) *resultSet {
	l := &resultSet{r: r, q: q, iq: iq, then: then, semantic: semantic, seen: map[events.ID]bool{}, place: map[events.ID]int{}, entry: map[rows.Entry]int{}}
	if iq.Sort == index.Relevance {
		l.words = r.cfg.Index.StemPrefixes(q.Text)
	}
	for _, h := range semantic.hits {
		l.iq.Also = append(l.iq.Also, h.row.Position)
	}
	return l
}

// fill goes on until more than want rows are shown, or all that there are.
func (l *resultSet) fill(ctx context.Context, want int) error {
	for l.iq.Limit = max(head, want+spare); ; l.iq.Limit *= 4 {
		var err error
		if l.found, err = l.r.cfg.Index.Search(ctx, l.iq); err != nil {
			return fmt.Errorf("recall: %w", err)
		}
		if l.iq.Facets {
			l.facets, l.iq.Facets = l.found.Facets, false
		}
		if l.semantic.used && l.next == 0 {
			if err := l.fuse(ctx); err != nil {
				return err
			}
		}
		for len(l.shown) <= want && l.next < len(l.found.Hits) {
			if err := l.readSlice(ctx, want); err != nil {
				return err
			}
		}
		if len(l.shown) > want || len(l.found.Hits) < l.iq.Limit {
			return nil
		}
	}
}

// readSlice reads some more rows, and shows those that nothing behind them can come before any more, until more than want are.
func (l *resultSet) readSlice(ctx context.Context, want int) error {
	end := min(l.next+slice, len(l.found.Hits))
	if l.next < head {
		end = min(end, head)
	}
	inHead := end <= head
	var hits []hit
	var err error
	if found := l.found.Hits[l.next:end]; inHead && len(l.words) > 1 && l.then.position == 0 {
		hits, err = l.glance(ctx, found)
	} else {
		hits, err = l.live(ctx, found, inHead)
	}
	if err != nil {
		return err
	}
	l.next = end
	l.waiting = append(l.waiting, hits...)
	if inHead && len(l.words) > 1 {
		slices.SortStableFunc(l.waiting, byScore)
	}
	return l.settle(ctx, want)
}

func byScore(a, b hit) int { return cmp.Compare(b.score, a.score) }

// settle shows what is certain of its place, until more than want rows are shown; all of it where there is no more to look at, so that the
// total of few rows is the same for every page.
func (l *resultSet) settle(ctx context.Context, want int) error {
	best := 0.0 // that what is not looked at can come to
	if l.next < min(head, len(l.found.Hits)) && len(l.words) > 1 {
		best = l.found.Hits[l.next].Score * (1 + mostBoost(len(l.words)))
	}
	n, all := 0, l.next == len(l.found.Hits) && l.next < l.iq.Limit
	for n < len(l.waiting) && (all || len(l.shown) <= want) && l.waiting[n].score >= best {
		ahead := max(1, want+1-len(l.shown))
		if all {
			ahead = len(l.waiting)
		}
		if err := l.readAhead(ctx, l.waiting[n:], ahead); err != nil {
			return err
		}
		if h := l.waiting[n]; h.row.Listed() {
			l.show(h)
		} else { // any more, since there was a glance at it
			l.hidden++
		}
		n++
	}
	l.waiting = slices.Delete(l.waiting, 0, n)
	return nil
}

// show puts h at the end, unless a row before it is of the same entry, or says the same.
func (l *resultSet) show(h hit) {
	if l.mergeEntry(h.row) || l.folded(h.row) {
		return
	}
	l.byWords, l.places = l.byWords+1, l.places+1
	if l.semantic.used {
		h.score, h.ranks = Ranks{Words: l.places}.score(), &Ranks{Words: l.byWords}
	}
	l.put(h)
}

func (l *resultSet) put(h hit) {
	l.place[h.row.ID], l.entry[h.row.Entry()] = len(l.shown), len(l.shown)
	l.shown = append(l.shown, h)
}

// mergeEntry reports whether a row is of an entry that is shown, by another row.
func (l *resultSet) mergeEntry(row *rows.Row) bool {
	at, ok := l.entry[row.Entry()]
	if !ok || l.q.ungrouped {
		return false
	}
	l.place[row.ID] = at
	l.hidden++
	l.shown[at].joined = append(l.shown[at].joined, row.ID)
	return true
}

// folded reports whether a row that is shown says nearly what row does; that one counts it then.
func (l *resultSet) folded(row *rows.Row) bool {
	if l.q.Text == "" || l.folds.added >= maxFolded {
		return false
	}
	by, ok := l.folds.add(row)
	if !ok {
		return false
	}
	at := l.place[by]
	l.place[row.ID] = at
	l.hidden++
	l.shown[at].similar = append(l.shown[at].similar, row.ID)
	l.shown[at].marks = append(l.shown[at].marks, row.Entry().Mark())
	l.shown[at].count += max(1, row.Count)
	return true
}

// fuse brings the head and what vectors found into one order.
func (l *resultSet) fuse(ctx context.Context) error {
	hits, err := l.live(ctx, l.found.Hits[:min(head, len(l.found.Hits))], true)
	if err != nil {
		return err
	}
	l.next = min(head, len(l.found.Hits))
	slices.SortStableFunc(hits, byScore)
	for _, h := range hits {
		l.show(h)
	}
	l.mergeSemantic()
	return nil
}

// mergeSemantic brings what is shown, all of it found by words, and what vectors found into one order.
func (l *resultSet) mergeSemantic() {
	near := 0
	for _, h := range l.semantic.hits {
		if at, ok := l.showSemantic(h); ok && l.shown[at].ranks.Vectors == 0 {
			near++
			l.shown[at].ranks.Vectors = near
		}
	}
	l.places = max(l.byWords, near)
	l.reorder()
}

// showSemantic shows a row that vectors found, unless it is shown already, itself or by one that stands for it, and returns
// where. Of a row that words found too far behind, its place there is not known.
func (l *resultSet) showSemantic(h hit) (at int, ok bool) {
	if _, seen := l.seen[h.row.ID]; !seen {
		l.seen[h.row.ID] = true
		if !l.mergeEntry(h.row) && !l.folded(h.row) {
			h.ranks = &Ranks{}
			l.put(h)
		}
	}
	at, ok = l.place[h.row.ID]
	return at, ok
}

// reorder sorts what is shown by the ranks that it has in both lists. Of equal scores the first by words comes first.
func (l *resultSet) reorder() {
	for i := range l.shown {
		l.shown[i].score = l.shown[i].ranks.score()
	}
	slices.SortStableFunc(l.shown, byScore)
	for at, h := range l.shown {
		l.place[h.row.ID], l.entry[h.row.Entry()] = at, at
		for _, id := range slices.Concat(h.similar, h.joined) {
			l.place[id] = at
		}
	}
}

// live reads the rows of hits and keeps those that answers show, in their order.
func (l *resultSet) live(ctx context.Context, found []index.Hit, withPhrases bool) ([]hit, error) {
	rows, err := l.r.rowsOf(ctx, found, l.then)
	if err != nil {
		return nil, err
	}
	hits := make([]hit, 0, len(rows))
	for i := range rows {
		if !l.isNew(rows[i].ID, rows[i].Listed()) {
			continue
		}
		h := hit{row: &rows[i], score: found[i].Score, why: found[i].Explain}
		if withPhrases {
			h.raise(l.words)
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// glance is live with phrases, without the rows in which no two neighbouring words of the query stand together. Most of the head is such
// and is never shown; these are read when they are.
func (l *resultSet) glance(ctx context.Context, found []index.Hit) ([]hit, error) {
	glances, err := l.r.cfg.Views.Glances(ctx, l.words, namesOf(found)...)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	hits := make([]hit, 0, len(found))
	var phrased []*hit
	for i, g := range glances {
		if !l.isNew(found[i].ID, g.Listed) {
			continue
		}
		hits = append(hits, hit{unread: &found[i], score: found[i].Score, why: found[i].Explain})
		if hasNeighbours(g.Holds) {
			phrased = append(phrased, &hits[len(hits)-1])
		}
	}
	if err := l.read(ctx, phrased); err != nil {
		return nil, err
	}
	for _, h := range phrased {
		h.raise(l.words)
	}
	return hits, nil
}

// read reads the rows of hits of which there was a glance alone.
func (l *resultSet) read(ctx context.Context, hits []*hit) error {
	if len(hits) == 0 {
		return nil
	}
	found := make([]index.Hit, len(hits))
	for i, h := range hits {
		found[i] = *h.unread
	}
	rows, err := l.r.rowsOf(ctx, found, l.then)
	if err != nil {
		return err
	}
	for i := range rows {
		hits[i].row = &rows[i]
	}
	return nil
}

// readAhead reads the row of the first of hits, and with it those of the next ones, up to n, that are to be shown then as far as is known.
func (l *resultSet) readAhead(ctx context.Context, hits []hit, n int) error {
	if hits[0].row != nil {
		return nil
	}
	var unread []*hit
	for i := range hits[:min(n, len(hits))] {
		if hits[i].row == nil {
			unread = append(unread, &hits[i])
		}
	}
	return l.read(ctx, unread)
}

// isNew reports whether a row that was looked at is one more to show: it is listed, and was not looked at before.
func (l *resultSet) isNew(id events.ID, listed bool) bool {
	byMeaning, again := l.seen[id]
	l.seen[id] = false
	if (again || !listed) && !byMeaning {
		l.hidden++
	}
	return !again && listed
}

// total is how many entries are shown to whoever reads all pages, as far as it is known: what was not looked at counts.
func (l *resultSet) total() int { return max(l.found.Total-l.hidden, len(l.shown)) }
