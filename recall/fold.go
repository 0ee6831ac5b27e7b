package recall

import (
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

// fold drops hits that say nearly the same as one before them, of the same kind and project; that one counts them.
func fold(hits []hit) []hit {
	kept := hits[:0]
	sketches := make([][]uint64, 0, len(hits))
next:
	for _, h := range hits {
		own := sketch(h.row)
		for i := range kept {
			first := &kept[i]
			if first.row.Kind == h.row.Kind && first.row.Project == h.row.Project && first.row.ProjectRoot == h.row.ProjectRoot &&
				first.row.Flagged == h.row.Flagged && alike(sketches[i], own) >= sameness {
				first.similar = append(first.similar, h.row.ID)
				first.count += max(1, h.row.Count)
				continue next
			}
		}
		kept, sketches = append(kept, h), append(sketches, own)
	}
	return kept
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
