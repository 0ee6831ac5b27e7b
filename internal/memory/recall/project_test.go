package recall

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// TestOneRuleForProjects: search, timeline and context hold the same rows for a project's: those of all its folders, and those
// that have no root and a name that was given to it, however many of another project of that name are newer.
func TestOneRuleForProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []events.ID
	for _, root := range []string{"/src/shop", "/work/shop-2"} {
		id := events.SessionIDOf("codex", root)
		w.put(id.Stream(), events.SessionOpened{Agent: "codex", AgentSession: root, Project: "shop", ProjectRoot: root, ProjectKey: "remote:shop"})
		want = append(want, w.observe(id, "bugfix", "Carousel in "+root, ""))
	}
	rootless := events.SessionIDOf("codex", "rootless")
	w.put(rootless.Stream(), events.SessionOpened{Agent: "codex", AgentSession: "rootless", Project: "shop"})
	want = append(want, w.observe(rootless, "bugfix", "Carousel nowhere", ""))
	for i := range newestMemories + 5 { // the named ones are older than as many that were corrected, and than those of another
		id := newID()
		w.put(events.Daemon, events.MemorySaved{Memory: id, Project: "shop", Text: fmt.Sprintf("Carousel %d turns", i)})
		if i == 0 {
			want = append(want, id)
			continue
		}
		w.put(events.Daemon, events.MemorySuperseded{Memory: id, By: id})
	}
	for i := range newestMemories + 5 {
		w.put(events.Daemon, events.MemorySaved{Memory: newID(), Project: "shop", ProjectRoot: "/other/shop", Text: fmt.Sprintf("Carousel of others %d", i)})
	}
	w.put(events.Daemon, events.MemorySaved{Memory: newID(), Project: "bank", Text: "Carousel of the bank"})
	w.put(events.Projects, events.ProjectGiven{Name: "shop", Root: "/src/shop"})
	for _, root := range []string{"/src/shop", "/work/shop-2", "/tmp/fresh-clone"} {
		got := w.mustSearch(Query{Text: "carousel", Project: root, Key: "remote:shop"})
		if diff := cmp.Diff(names(want), names(idsOf(got.Results))); diff != "" || got.Total != len(want) {
			t.Errorf("search in %s: total %d (-want +got):\n%s", root, got.Total, diff)
		}
		line, err := w.Timeline(t.Context(), TimelineQuery{Anchor: "now", Project: root, Key: "remote:shop", Before: 20})
		if diff := cmp.Diff(names(want), names(idsOf(line.Before))); diff != "" || err != nil {
			t.Errorf("timeline of %s: %v (-want +got):\n%s", root, err, diff)
		}
		line, err = w.Timeline(t.Context(), TimelineQuery{Anchor: "2026-01-01", Project: root, Key: "remote:shop", After: 2})
		if diff := cmp.Diff(names(want[:2]), names(idsOf(line.After))); diff != "" || err != nil {
			t.Errorf("the first of %s: %v (-want +got):\n%s", root, err, diff)
		}
		told := w.mustContext(Ask{ProjectRoot: root, Project: "shop", ProjectKey: "remote:shop", Source: "startup"})
		if diff := cmp.Diff(names(want), names(told.IDs)); diff != "" {
			t.Errorf("context of %s (-want +got):\n%s", root, diff)
		}
		told = w.mustContext(Ask{ProjectRoot: root, Project: "shop", ProjectKey: "remote:shop", Source: SourcePrompt, Prompt: "the carousel turns nowhere", Score: 1})
		if diff := cmp.Diff(names(want), names(told.IDs)); diff != "" {
			t.Errorf("at a prompt in %s (-want +got):\n%s", root, diff)
		}
	}
	if got := w.mustSearch(Query{Text: "carousel", Project: "/other/shop", Limit: MaxLimit}); got.Total != newestMemories+5 {
		t.Errorf("another project of the name: %d rows, want its own alone", got.Total)
	}
	told := w.mustContext(Ask{ProjectRoot: "/other/carousel", Project: "shop", Source: SourcePrompt, Prompt: "the carousel turns nowhere", Score: 1})
	if len(told.IDs) > 0 {
		t.Errorf("a folder of that name is told %v", told.IDs)
	}
	if got := w.mustSearch(Query{Text: "carousel nowhere", Project: "shop", Kinds: []rows.Kind{rows.Observation}}); got.Total != 3 {
		t.Errorf("by the name alone: %d rows, want all that have it", got.Total)
	}
}
