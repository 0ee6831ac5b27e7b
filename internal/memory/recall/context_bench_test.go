package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// BenchmarkContext measures what hooks wait for, at several numbers of observations in one project: it must not grow with
// them. `startup` is a session's start, `resume` that of one that was told nearly all, `prompt` what is injected at a prompt,
// `file` what before a file is read. Of prompts the documents that were looked at are held to be flat: those that hold a word.
func BenchmarkContext(b *testing.B) {
	const prompt = "why does the worker retry order0 of the cart in f7.go?"
	looked := 0 // among the fewest rows
	for _, rows := range []int{1000, 10_000, 100_000} {
		if rows > 10_000 && testing.Short() {
			continue
		}
		w := filled(b, rows)
		for _, ask := range []Ask{
			{Source: "startup"}, {Source: "resume", Session: w.resumed()}, {Source: SourcePrompt, Prompt: prompt},
			{Source: SourceFile, File: "f7.go"},
		} {
			ask.ProjectRoot, ask.Project, ask.Exists = "/src/shop", "shop", func(string) bool { return true }
			b.Run(fmt.Sprintf("%s/%d", ask.Source, rows), func(b *testing.B) { w.time(b, ask) })
		}
		n := w.mustSearch(Query{Text: searched(tellingWords(prompt)), Project: "/src/shop", most: mostPromptDocs}).Total
		if looked = cmp.Or(looked, n); n > 4*looked {
			b.Errorf("a prompt looks at %d of %d documents, and at %d of the fewest", n, rows, looked)
		}
	}
}

// resumed returns a session that was told all but one row.
func (w *world) resumed() events.SessionID {
	mine, other := w.open("resumed", "shop"), w.open("other", "shop")
	w.sync()
	w.put(mine.Stream(), events.ContextInjected{Hook: "startup", IDs: []events.ID{newID()}, Position: events.Moment(w.Position())})
	w.observe(other, "change", "The worker was given a name", "")
	w.sync()
	return mine
}

func filled(b *testing.B, rows int) *world {
	b.Helper()
	w := newWorld(b)
	verbs := []string{"cached", "rounded", "retried", "merged", "split", "queued", "locked"}
	for i := 0; i < rows; {
		s := w.open(fmt.Sprintf("s%d", i), "shop")
		var list []events.Event
		for range 100 {
			i++
			title := fmt.Sprintf("The worker %s order%d of the cart", verbs[i%len(verbs)], i%997)
			list = append(list, events.ObservationParsed{
				Observation: newID(), Type: "change", Title: title, Narrative: fmt.Sprintf("%s so that part %d of the checkout no longer waits for step %d.", title, i, i%31),
				FilesModified: []string{fmt.Sprintf("/src/shop/f%d.go", i%500)},
			})
		}
		list = append(list, events.SummaryParsed{Summary: newID(), Request: fmt.Sprintf("Session %d", i), NextSteps: "Go on with the queue"})
		w.put(s.Stream(), list...)
	}
	w.sync()
	return w
}

func (w *world) time(b *testing.B, ask Ask) {
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		c, err := w.Context(context.Background(), ask)
		if err != nil || len(c.IDs) == 0 {
			b.Fatalf("%d rows, %v", len(c.IDs), err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}
