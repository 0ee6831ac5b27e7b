package vectors

import (
	"math"
	"slices"
)

// StandardFloor is the floor without a setting: see Config.Floor. With the counted model of testkit/embeddings, on the tuned half of
// testkit/retrieval's set, 2.2 % of a project's rows are near to a question then, and recall at 10 is the best of six floors:
// 82 % without, 79, 80, 83, 90 and 89 with 1, 1.5, 2, 2.5 and 3. A better model sets evidence further apart from the rest.
const StandardFloor = 2.5

// fewRows is how many rows have no spread worth the name: of n rows none can stand out by more than (n-1)/sqrt(n) of it, and all of
// a few can be read.
const fewRows = 16

// spread is how near the rows are that a question was held against, over all of them.
type spread struct {
	n            int
	sum, squares float64
}

func (s *spread) add(score float64) {
	s.n++
	s.sum += score
	s.squares += score * score
}

func (s *spread) join(t spread) {
	s.n, s.sum, s.squares = s.n+t.n, s.sum+t.sum, s.squares+t.squares
}

// above are the hits that stand out: by so many standard deviations above the mean of all. What counts is the place among
// others and not the cosine, as for one model everything is near, and for another nothing. A floor below zero is none.
func (s spread) above(floor float64, hits []Hit) []Hit {
	if floor < 0 || s.n < fewRows {
		return hits
	}
	mean := s.sum / float64(s.n)
	deviation := math.Sqrt(max(0, s.squares/float64(s.n)-mean*mean))
	least := mean + floor*deviation
	below := slices.IndexFunc(hits, func(h Hit) bool { return h.Score < least })
	if below < 0 {
		return hits
	}
	return hits[:below]
}
