package replay

import "container/heap"

// appointment is a time at which a session's next observer opens.
type appointment struct {
	at      int64
	session int32
}

// agenda holds appointments, the earliest first; of two at one time that of the session with the lower number, so that
// a run is the same every time.
type agenda struct{ list appointments }

func (a *agenda) add(p appointment) {
	a.list = append(a.list, p)
	heap.Fix(&a.list, len(a.list)-1) // heap.Push would put p on the heap of memory
}

// next takes the earliest appointment that is not later than at; ok is false if there is none.
func (a *agenda) next(at int64) (p appointment, ok bool) {
	if len(a.list) == 0 || a.list[0].at > at {
		return appointment{}, false
	}
	p, last := a.list[0], len(a.list)-1
	a.list[0] = a.list[last]
	if a.list = a.list[:last]; last > 0 {
		heap.Fix(&a.list, 0)
	}
	return p, true
}

// appointments is what container/heap orders.
type appointments []appointment

func (l appointments) Len() int      { return len(l) }
func (l appointments) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l appointments) Less(i, j int) bool {
	if l[i].at != l[j].at {
		return l[i].at < l[j].at
	}
	return l[i].session < l[j].session
}
func (l *appointments) Push(any) { panic("replay: appointments are added by heap.Fix") }
func (l *appointments) Pop() any { panic("replay: appointments are taken by heap.Fix") }
