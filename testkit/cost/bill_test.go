package cost

import (
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// Call is one request that the service got.
type Call struct {
	Kind  events.TurnKind
	Bytes int // of its body
	From  int // the events it is paid for: from this one, counted from 0
	To    int // up to but without this one
}

// Bill is what the events of one session cost.
type Bill struct {
	Events int
	Calls  []Call // in their order
}

// Bytes is how many were sent.
func (b Bill) Bytes() int { return int(b.between(0, b.Events).bytes) }

// BytesAnEvent is how many bytes were sent for one event.
func (b Bill) BytesAnEvent() float64 { return float64(b.Bytes()) / float64(b.Events) }

// Stretch is what some of the events cost, each of them.
type Stretch struct {
	From, To     int     // counted from 1, both included
	Bytes, Calls float64 // an event
}

// Stretch returns what the events from and to cost, counted from 1, and those between them. A call for more events than these
// counts in parts.
func (b Bill) Stretch(from, to int) Stretch {
	s, n := b.between(from-1, to), float64(to-from+1)
	return Stretch{From: from, To: to, Bytes: s.bytes / n, Calls: s.calls / n}
}

// Curve is what an event cost at the beginning of the session, and later.
func (b Bill) Curve() []Stretch {
	var all []Stretch
	for _, s := range [][2]int{{1, 10}, {11, 100}, {101, 500}, {501, 1000}} {
		if s[1] <= b.Events {
			all = append(all, b.Stretch(s[0], s[1]))
		}
	}
	return all
}

// Growth is what an event of the session's last tenth cost, as a multiple of one of its first tenth: bytes and calls.
func (b Bill) Growth() (bytes, calls float64) {
	tenth := b.Events / 10
	first, last := b.Stretch(1, tenth), b.Stretch(b.Events-tenth+1, b.Events)
	return last.Bytes / first.Bytes, last.Calls / first.Calls
}

// String is the bill and its curve, as a table.
func (b Bill) String() string {
	var s strings.Builder
	kinds := map[events.TurnKind]int{}
	for _, c := range b.Calls {
		kinds[c.Kind]++
	}
	fmt.Fprintf(&s, "%d events: %d calls (%d for observations, %d for summaries), %d bytes, %.0f bytes an event\n",
		b.Events, len(b.Calls), kinds[events.TurnObservation], kinds[events.TurnSummary], b.Bytes(), b.BytesAnEvent())
	for _, c := range b.Curve() {
		fmt.Fprintf(&s, "  events %4d to %4d: %6.0f bytes and %.3f calls an event\n", c.From, c.To, c.Bytes, c.Calls)
	}
	bytes, calls := b.Growth()
	fmt.Fprintf(&s, "  the last tenth costs %.2f times the bytes and %.2f times the calls of the first\n", bytes, calls)
	return s.String()
}

// sum is what several events cost together.
type sum struct{ bytes, calls float64 }

// between is the sum of events from and up to but without to, counted from 0.
func (b Bill) between(from, to int) (s sum) {
	for _, c := range b.Calls {
		if shared := min(to, c.To) - max(from, c.From); shared > 0 {
			part := float64(shared) / float64(c.To-c.From)
			s.bytes += part * float64(c.Bytes)
			s.calls += part
		}
	}
	return s
}
