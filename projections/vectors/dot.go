package vectors

import (
	"cmp"
	"math"
	"slices"

	"github.com/cmemd/cmemd/events"
)

// dot is the inner product of two vectors of the same length. It adds up four sums, which are independent of each other: with eight
// the compiler has no registers left, and stores one of them in each round.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for len(a) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b)
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s0 += x[4] * y[4]
		s1 += x[5] * y[5]
		s2 += x[6] * y[6]
		s3 += x[7] * y[7]
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// unit scales a vector to length 1, in place. ok is false, and v as it was, if that cannot be done: it holds something that
// is no number, or nothing but zeros.
func unit(v []float32) (ok bool) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return true
}

// Hit is a row that is near to a question.
type Hit struct {
	ID    events.ID
	Score float64 // the cosine of both: 1 is the same direction

	position events.Position // the lower one comes first among equal scores
}

func compareHits(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.position, b.position))
}

// best keeps the k best hits, best first.
type best struct {
	k    int
	hits []Hit
}

func (b *best) add(h Hit) {
	at, _ := slices.BinarySearchFunc(b.hits, h, compareHits)
	b.hits = slices.Insert(b.hits, at, h)
	b.hits = b.hits[:min(len(b.hits), b.k)]
}

// least is the score that a hit must exceed to be kept.
func (b *best) least() float64 {
	if len(b.hits) < b.k {
		return math.Inf(-1)
	}
	return b.hits[len(b.hits)-1].Score
}
