package recall

import (
	"cmp"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// sameness is the part of what two rows say that must be the same for one to stand for both.
	sameness = 0.9

	// shingle is how many words in a row are compared, and sketchSize how many of the shingles, drawn by their hashes.
	shingle    = 3
	sketchSize = 48

	maxFoldText = 2 << 10 // bytes of a row that are looked at
)

// folds finds rows that say nearly the same as one before them, of the same kind and project. A row is compared with those
// alone that may be the same, and with maxCompared of them at most, so that a list costs what its length says. The zero value
// is empty.
type folds struct {
	kept  []folded
	by    map[uint64][]int // from the lowest hashes of sketches to kept
	added int
}

// folded is a row with what it is compared by.
type folded struct {
	id     events.ID
	group  group
	sketch []uint64
}

// group is what rows must have in common for one to stand for another.
type group struct {
	kind          rows.Kind
	project, root string
	flagged       bool
	by            string // as Row.By says it
}

const (
	// spareHashes is how many more of a sketch's lowest hashes than needed a row may be looked up by: phrases that many rows
	// have in common are passed over for rarer ones.
	spareHashes = 4

	// maxCompared is how many rows with a hash in common one is compared with. Only rows that are made of the same phrases
	// throughout, and still differ, meet so many; of those behind, some are shown beside what says nearly the same.
	maxCompared = 64
)

// add returns the first row before this one that says nearly the same; ok is false if none does.
func (f *folds) add(row *rows.Row) (standIn events.ID, ok bool) {
	f.added++
	this := folded{row.ID, group{row.Kind, row.Project, row.ProjectRoot, row.Flagged, row.By()}, sketch(*row)}
	if found := f.first(this); found < len(f.kept) {
		return f.kept[found].id, true
	}
	if f.by == nil {
		f.by = map[uint64][]int{}
	}
	for _, x := range this.lowest(2*this.missing() + 2 + spareHashes) {
		f.by[x] = append(f.by[x], len(f.kept))
	}
	f.kept = append(f.kept, this)
	return events.ID{}, false
}

// first returns the first kept row that says nearly what this one does; len(f.kept) if none does. Two sketches with sameness
// in common share all but missing of the hashes of the one, so that one of any missing+1 finds the other: the rarest do.
func (f *folds) first(this folded) int {
	found, left := len(f.kept), maxCompared
	hashes := slices.Clone(this.lowest(this.missing() + 1 + spareHashes))
	slices.SortFunc(hashes, func(a, b uint64) int { return cmp.Compare(len(f.by[a]), len(f.by[b])) })
	for _, x := range hashes[:min(this.missing()+1, len(hashes))] {
		for _, i := range f.by[x] {
			if i >= found || left == 0 {
				break
			}
			left--
			if this.same(f.kept[i]) {
				found = i
			}
		}
	}
	return found
}

// missing is how many hashes of the sketch what is nearly the same may lack.
func (f folded) missing() int {
	return len(f.sketch) - int(math.Ceil(sameness*float64(len(f.sketch))))
}

// lowest are the n lowest hashes, or all. Those by which a row is looked up stand at most missing+1 places further behind in
// what is nearly the same, and under so many that is filed.
func (f folded) lowest(n int) []uint64 { return f.sketch[:min(n, len(f.sketch))] }

func (f folded) same(other folded) bool {
	return f.group == other.group && alike(other.sketch, f.sketch) >= sameness
}

// sketch is a sample of a row's shingles: the lowest hashes, sorted. Of a very short row it is its whole text's hash.
func sketch(row rows.Row) []uint64 {
	s := sketcher{room: maxFoldText, lowest: make([]uint64, 0, sketchSize)}
	for _, text := range row.Words() {
		s.text(text)
	}
	if s.words < shingle {
		return []uint64{s.before[0] ^ s.before[1]*fnvPrime}
	}
	return s.lowest
}

// sketcher is a sketch in the making.
type sketcher struct {
	room   int // bytes that may still be read
	words  int
	before [shingle - 1]uint64 // hashes of the last words
	lowest []uint64            // of the shingles' hashes, sorted
}

const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)

// text adds the words of a text, in lower case. A text ends a word.
func (s *sketcher) text(text string) {
	text = text[:min(len(text), s.room)]
	s.room -= len(text)
	h, inWord := fnvOffset, false
	for _, r := range text {
		if r <= ' ' || r >= utf8.RuneSelf && unicode.IsSpace(r) {
			if inWord {
				s.word(h)
			}
			h, inWord = fnvOffset, false
			continue
		}
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		} else if r >= utf8.RuneSelf {
			r = unicode.ToLower(r)
		}
		h, inWord = (h^uint64(r))*fnvPrime, true
	}
	if inWord {
		s.word(h)
	}
}

// word adds a word by its hash, and the shingle that it completes.
func (s *sketcher) word(h uint64) {
	if s.words++; s.words >= shingle {
		s.keep(mixed((s.before[0]*fnvPrime+s.before[1])*fnvPrime + h))
	}
	s.before[0], s.before[1] = s.before[1], h
}

// keep adds a shingle's hash if it is among the lowest.
func (s *sketcher) keep(h uint64) {
	full := len(s.lowest) == sketchSize
	if full && h >= s.lowest[sketchSize-1] {
		return
	}
	at, known := slices.BinarySearch(s.lowest, h)
	if known {
		return
	}
	if full {
		s.lowest = s.lowest[:sketchSize-1]
	}
	s.lowest = slices.Insert(s.lowest, at, h)
}

// mixed spreads a hash over all bits: the lowest ones must be a fair sample.
func mixed(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// alike estimates which part of both rows' shingles both have, from the lowest hashes of either.
func alike(a, b []uint64) float64 {
	both, all := 0, 0
	for i, j := 0, 0; (i < len(a) || j < len(b)) && all < sketchSize; all++ {
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			i++
		case i == len(a) || b[j] < a[i]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(max(1, all))
}
