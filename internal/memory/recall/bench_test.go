package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// BenchmarkRecall measures what hooks and people wait for, over 100,000 observations in one project.
func BenchmarkRecall(b *testing.B) {
	if testing.Short() {
		b.Skip("stores 100,000 observations")
	}
	w := newWorld(b)
	words := strings.Fields("cart token cache session retry order price rounding deploy queue schema index merge batch login cookie worker timeout flag test")
	for i := 0; i < 100_000; {
		s := w.open(fmt.Sprintf("s%d", i), "shop")
		var list []events.Event
		for j := range 100 {
			if j%5 == 0 {
				list = append(list, events.PromptSubmitted{Number: j/5 + 1, Text: fmt.Sprintf("Look at number %d next", i)})
			}
			i++
			text := ""
			for j := range 60 {
				text += words[(i*7+j*j*i+j)%len(words)] + fmt.Sprint((i*31+j*17)%997) + " "
			}
			list = append(list, events.ObservationParsed{Observation: newID(), Prompt: j/5 + 1, Type: "change", Title: text[:60], Narrative: text, FilesModified: []string{fmt.Sprintf("/src/shop/f%d.go", i%500)}})
		}
		list = append(list, events.SummaryParsed{Summary: newID(), Request: fmt.Sprintf("Session %d", i), NextSteps: "Go on"})
		w.put(s.Stream(), list...)
	}
	w.sync()
	for _, bench := range []struct {
		name string
		call func(i int) error
	}{
		{"context", func(int) error {
			c, err := w.Context(context.Background(), shop("startup", events.SessionID{}))
			if err == nil && len(c.IDs) < 10 {
				err = fmt.Errorf("only %d rows told", len(c.IDs))
			}
			return err
		}},
		{"two", func(i int) error {
			_, err := w.Search(context.Background(), Query{Text: fmt.Sprintf("cart%d token%d", i%997, i*3%997)})
			return err
		}},
		{"six", func(i int) error {
			_, err := w.Search(context.Background(), Query{Text: fmt.Sprintf("cart%d token%d retry%d order%d queue%d merge%d", i%997, i*3%997, i*5%997, i*7%997, i*11%997, i*13%997)})
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var times []time.Duration
			for i := range b.N {
				start := time.Now()
				if err := bench.call(i); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
