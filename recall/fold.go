package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/projections"
)

const (
	// sameness is the part of what two rows say that must be the same for one to stand for both.
	sameness = 0.9

	// shingle is how many words in a row are compared, and sketchSize how many of the shingles, drawn by their hashes.
	shingle    = 3
	sketchSize = 48

	maxFoldText = 2 << 10 // bytes of a row that are looked at
)

// fold drops hits that say nearly the same as one before them, of the same kind and project; that one counts them. A hit is
// compared with those alone that may be the same, so that a long list costs little more than its length says.
func fold(hits []hit) []hit {
	sketches, often := make([][]uint64, len(hits)), map[uint64]int{}
	for i, h := range hits {
		sketches[i] = sketch(h.row)
		for _, x := range sketches[i] {
			often[x]++
		}
	}
	kept, by := make([]folded, 0, len(hits)), map[uint64][]int{}
	for i, h := range hits {
		h := folded{hit: h, sketch: sketches[i], rare: rarest(sketches[i], often)}
		if k := h.standIn(kept, by); k >= 0 {
			kept[k].similar = append(kept[k].similar, h.row.ID)
			kept[k].count += max(1, h.row.Count)
			continue
		}
		for _, x := range h.rare {
			by[x] = append(by[x], len(kept))
		}
		kept = append(kept, h)
	}
	out := hits[:0]
	for _, h := range kept {
		out = append(out, h.hit)
	}
	return out
}

// folded is a hit with what it is compared by.
type folded struct {
	hit
	sketch []uint64
	rare   []uint64
}

// rarest returns those of a sketch that the fewest hits have: as many as may be missing in what is nearly the same, and one
// more. Two sketches with sameness of each other in common share one of them.
func rarest(sketch []uint64, often map[uint64]int) []uint64 {
	sorted := slices.Clone(sketch)
	slices.SortFunc(sorted, func(a, b uint64) int { return cmp.Or(cmp.Compare(often[a], often[b]), cmp.Compare(a, b)) })
	return sorted[:len(sorted)-int(math.Ceil(sameness*float64(len(sorted))))+1]
}

// standIn returns the first of kept that says what h does; -1: none does. by leads from rare hashes to kept.
func (h folded) standIn(kept []folded, by map[uint64][]int) int {
	found := len(kept)
	for _, x := range h.rare {
		for _, i := range by[x] {
			if i >= found {
				break
			}
			if h.same(kept[i]) {
				found = i
			}
		}
	}
	if found == len(kept) {
		return -1
	}
	return found
}

func (h folded) same(other folded) bool {
	a, b := h.row, other.row
	return a.Kind == b.Kind && a.Project == b.Project && a.ProjectRoot == b.ProjectRoot && a.Flagged == b.Flagged &&
		alike(other.sketch, h.sketch) >= sameness
}

// sketch is a sample of a row's shingles: the lowest hashes, sorted. Of a very short row it is its whole text's hash.
func sketch(row projections.Row) []uint64 {
	words := strings.Fields(strings.ToLower(cutText(strings.Join(textsOf(row), " "), maxFoldText)))
	if len(words) < shingle {
		return []uint64{hash(words)}
	}
	hashes := make([]uint64, 0, len(words))
	for i := range len(words) - shingle + 1 {
		hashes = append(hashes, hash(words[i:i+shingle]))
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	return hashes[:min(len(hashes), sketchSize)]
}

// hash is FNV-1a over words and the spaces between them.
func hash(words []string) uint64 {
	h := uint64(14695981039346656037)
	for _, w := range words {
		for i := range len(w) {
			h = (h ^ uint64(w[i])) * 1099511628211
		}
		h = (h ^ ' ') * 1099511628211
	}
	return h
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
