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

func (a *agenda) add(p appointment) { heap.Push(&a.list, p) }

// next takes the earliest appointment that is not later than at; ok is false if there is none.
func (a *agenda) next(at int64) (p appointment, ok bool) {
	if len(a.list) == 0 || a.list[0].at > at {
		return appointment{}, false
	}
	return heap.Pop(&a.list).(appointment), true
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
func (l *appointments) Push(x any) { *l = append(*l, x.(appointment)) }
func (l *appointments) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
