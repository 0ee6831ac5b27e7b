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

func compareAppointments(a, b appointment) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.session, b.session))
}

// agenda holds appointments, the earliest first; of two at one time that of the session with the lower number, so that a run is the same
// every time. They are made in about the order in which they come: a delay after what was just played.
type agenda []appointment

func (a *agenda) add(p appointment) {
	i, _ := slices.BinarySearchFunc(*a, p, compareAppointments)
	*a = slices.Insert(*a, i, p)
}

// next takes the earliest appointment that is not later than at; ok is false if there is none.
func (a *agenda) next(at int64) (p appointment, ok bool) {
	if len(*a) == 0 || (*a)[0].at > at {
		return appointment{}, false
	}
	p, *a = (*a)[0], (*a)[1:]
	return p, true
}
