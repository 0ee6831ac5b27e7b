package recall

import (
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

// folds finds rows that say nearly the same as one before them, of the same kind and project. A row is compared with each one
// that was kept: pairs that differ do so within the first few hashes. The zero value is empty.
type folds struct {
	kept   []folded
	added  int
	hashes []uint64 // memory for those of a row's shingles
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

// add returns the first row before this one that says nearly the same; ok is false if none does.
func (f *folds) add(row *rows.Row) (standIn events.ID, ok bool) {
	f.added++
	this := folded{row.ID, group{row.Kind, row.Project, row.ProjectRoot, row.Flagged, row.By()}, f.sketch(row)}
	for i := range f.kept {
		if other := &f.kept[i]; other.group == this.group && alike(other.sketch, this.sketch) {
			return other.id, true
		}
	}
	f.kept = append(f.kept, this)
	return events.ID{}, false
}

// sketch is a sample of a row's shingles: the lowest hashes, sorted. Of a very short row it is its whole text's hash.
func (f *folds) sketch(row *rows.Row) []uint64 {
	s := sketcher{room: maxFoldText, hashes: f.hashes[:0]}
	for _, text := range row.Words() {
		s.text(text)
	}
	if s.words < shingle {
		return []uint64{s.before[0] ^ s.before[1]*wordFactor}
	}
	f.hashes = s.hashes
	slices.Sort(s.hashes)
	lowest := slices.Compact(s.hashes)
	return slices.Clone(lowest[:min(len(lowest), sketchSize)])
}

// sketcher is a sketch in the making.
type sketcher struct {
	room   int // bytes that may still be read
	words  int
	before [shingle - 1]uint64 // hashes of the last words
	hashes []uint64            // of the shingles
}

const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211

	// wordFactor sets the words of a shingle apart: 2^64 by the golden ratio, as in Fibonacci hashing. By fnvPrime, which their own hashes
	// are multiples of, short words would come to the same as others.
	wordFactor uint64 = 0x9e3779b97f4a7c15
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
		s.hashes = append(s.hashes, mixed((s.before[0]*wordFactor+s.before[1])*wordFactor+h))
	}
	s.before[0], s.before[1] = s.before[1], h
}

// mixed spreads a hash over all bits: the lowest ones must be a fair sample.
func mixed(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// alike estimates from the lowest hashes of two rows whether the part of their shingles that both have is sameness or more.
func alike(a, b []uint64) bool {
	both, all := 0, 0
	for i, j := 0, 0; (i < len(a) || j < len(b)) && all < sketchSize; all++ {
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			i++
		case i == len(a) || b[j] < a[i]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
			continue
		}
		if float64(all+1-both) > (1-sameness)*sketchSize {
			return false // whatever follows
		}
	}
	return float64(both) >= sameness*float64(all)
}
