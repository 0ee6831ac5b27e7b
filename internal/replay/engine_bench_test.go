package replay

import (
	"fmt"
	"testing"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
)

// large is a recording of n turns in 200 sessions of two providers, of the outputs that such recordings have: more than
// half blank or prose, the rest an observation of 200 to 300 bytes, each a text of its own.
func large(n int) *Scenario {
	s := &Scenario{ID: "large", Respawn: Respawn{DelayMS: 2146, Tokens: Tokens{In: 5200, Out: 6}}, EndMS: int64(n+1) * 700}
	prose := []string{
		"No observations to record.", "I'm observing the primary session, but there is nothing to note yet.",
		"Skipping: repeated log scan with no new findings.", "This session has been exhausted, I cannot continue.",
	}
	for i := range n {
		e := Event{AtMS: int64(i) * 700, Kind: KindObservation, Batch: 1, Tokens: Tokens{In: 1500, Out: 30}}
		e.Session, e.Observer = fmt.Sprint("s", i*7919%200), fmt.Sprint("p", i%2)
		switch i % 9 {
		case 0, 1:
		case 2, 3, 4:
			e.Output = events.NewOutput(fmt.Sprint(prose[i%4], " (", i, ")"))
		case 5, 6, 7:
			e.Output = events.NewOutput(fmt.Sprintf("<observation><type>change</type><title>Queue drained in step %d</title><narrative>The worker "+
				"now empties the queue before it answers, which a test covers.</narrative><facts><fact>step %d</fact></facts>"+
				"<concepts><concept>what-changed</concept></concepts></observation>", i, i))
		case 8:
			e.Output = events.NewOutput(`<skip_summary reason="noise"/>`)
		}
		switch {
		case i%97 == 0:
			e.Kind, e.Output = KindExit, events.Output{}
		case i%101 == 0:
			e.Output, e.Provider = events.Output{}, &Failure{IsError: true, Code: string(events.FailOverload)}
		}
		s.Events = append(s.Events, e)
	}
	return s
}

func BenchmarkCompare(b *testing.B) {
	s := large(200_000)
	for _, c := range []struct {
		name  string
		names []policy.Name
	}{{"all", policy.Names()}, {"one", []policy.Name{policy.OTPHold}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compare(s, c.names, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(s.Events)*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
