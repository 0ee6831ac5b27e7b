package server

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// No field of a saved memory brings private text into the log.
func TestSaveCutsPrivateText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const hidden = "<private>secret</private>"
	_, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{
		Project: "shop" + hidden, ProjectRoot: "/src/shop" + hidden, Title: "a title" + hidden,
		Text: "a text<pri\x00vate>secret</private>", Type: "note" + hidden, Session: "meeting" + hidden,
		Concepts: []string{hidden, "carts" + hidden}, Files: []string{"cart.go", "<private>secret.go"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got events.MemorySaved
	for _, r := range w.records(t) {
		if r.Kind == events.KindMemorySaved {
			e, err := r.Event()
			if err != nil {
				t.Fatal(err)
			}
			got = e.(events.MemorySaved)
		}
	}
	want := events.MemorySaved{
		Memory: got.Memory, At: got.At, Project: "shop", ProjectRoot: "/src/shop", Title: "a title", Text: "a text",
		Type: "note", Session: "meeting", Concepts: []string{"carts"}, Files: []string{"cart.go"},
		Writer: events.WriterPerson,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if _, err = api.SaveRoute.Call(t.Context(), w.client, api.Memory{Text: " " + hidden}); problem(t, err).Status != 400 || strings.Contains(err.Error(), "secret") {
		t.Errorf("only private text: got %v, want 400", err)
	}
}
