package actors

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// TestOutputsAreReadInTheirForm: what a provider gave as JSON is stored like what it gave as XML, with the form on record.
func TestOutputsAreReadInTheirForm(t *testing.T) {
	structured := func(_ context.Context, _ int, p observer.Prompt) (observer.Reply, error) {
		text := `{"observations":[{"type":"change","title":"Retry budget is a setting","facts":["3 by default"]}],"skip":false}`
		if p.Kind == events.TurnSummary {
			text = `{"summary":{"request":"Make it a setting"},"skip":false}`
		}
		return observer.Reply{Text: events.NewOutput(text), Form: events.FormStructured}, nil
	}
	bubble(t, func(w *world) {
		w.capture("s", events.ToolUsed{Tool: "Read"})
		w.stopAgent("s")
		w.settled("s")
		var got []string
		for _, r := range all[events.TurnReceived](w) {
			got = append(got, string(r.Form))
		}
		for _, o := range all[events.ObservationParsed](w) {
			got = append(got, o.Type, o.Title)
			got = append(got, o.Facts...)
		}
		for _, s := range all[events.SummaryParsed](w) {
			got = append(got, s.Request)
		}
		want := []string{"structured", "structured", "change", "Retry budget is a setting", "3 by default", "Make it a setting"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}, structured)
}
