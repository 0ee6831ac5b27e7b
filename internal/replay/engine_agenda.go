package replay

import (
	"cmp"
	"slices"
)

// appointment is a time at which a session's next observer opens.
type appointment struct {
	at      int64
	session int32
}

// agenda holds appointments, the latest first; of two at one time that of the session with the lower number comes last, so that a run is
// the same every time.
type agenda []appointment

func (a *agenda) add(p appointment) {
	i, _ := slices.BinarySearchFunc(*a, p, func(have, p appointment) int {
		return cmp.Or(cmp.Compare(p.at, have.at), cmp.Compare(p.session, have.session))
	})
	*a = slices.Insert(*a, i, p)
}

// next takes the earliest appointment that is not later than at; ok is false if there is none.
func (a *agenda) next(at int64) (p appointment, ok bool) {
	last := len(*a) - 1
	if last < 0 || (*a)[last].at > at {
		return appointment{}, false
	}
	p, *a = (*a)[last], (*a)[:last]
	return p, true
}
