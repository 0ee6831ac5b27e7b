package recall

// fuseRank is how much the first places of a list stand out: the usual 60 makes a second place worth 61/62 of a first.
const fuseRank = 60

// Ranks says where a row stands in each of the lists that an answer was made of, from 1; 0: not in it.
type Ranks struct {
	Words   int `json:"words"`
	Vectors int `json:"vectors"`
}

// score is the row's place in the common order of lists whose scores cannot be compared, by reciprocal rank: what both have
// near their beginning comes first. The first of both has 1.
func (r Ranks) score() float64 {
	sum := 0.0
	for _, rank := range []int{r.Words, r.Vectors} {
		if rank > 0 {
			sum += 1 / float64(fuseRank+rank)
		}
	}
	return sum * (fuseRank + 1) / 2
}
