package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// Of several that go on with the same the newest counts, of another request, and none that is no observation.
func TestNewerWork(t *testing.T) {
	t.Parallel()
	session := events.SessionIDOf("codex", "a")
	row := func(at int, text string, read, modified []string) *rows.Row {
		return &rows.Row{
			ID: newID(), Kind: rows.Observation, Position: events.Position(at), Session: session, Prompt: at, Narrative: text, FilesRead: read, FilesModified: modified,
		}
	}
	cart := []string{"/w/shop/cart.go"}
	const sorted, byPosition = "Sorted by `CreatedAt`, the newest first.", "Sorted by position in the place of `cart.CreatedAt`."
	first, second, third := row(1, sorted, cart, nil), row(2, byPosition, nil, cart), row(3, byPosition, nil, cart)
	if newer := newerWork([]*rows.Row{third, first, second}); newer[first.ID] != third || newer[second.ID] != third || len(newer) != 2 {
		t.Errorf("of three: %v", newer)
	}
	same, prompt, flagged, outside := row(4, byPosition, nil, cart), row(5, byPosition, nil, cart), row(6, byPosition, nil, cart), row(7, byPosition, nil, cart)
	same.Prompt, prompt.Kind, flagged.Flagged, outside.Origin = third.Prompt, rows.Prompt, true, events.OriginOutside
	newer := newerWork([]*rows.Row{third, same, prompt, flagged, outside})
	if newer[third.ID] != nil || newer[same.ID] != nil || newer[flagged.ID] != nil {
		t.Errorf("of the same request, a prompt, what does not hold, and what others said: %v", newer)
	}
	read := row(2, sorted, cart, nil)
	read.Origin = events.OriginOutside
	if newer := newerWork([]*rows.Row{read, outside}); newer[read.ID] != outside {
		t.Errorf("of two that others' words led to: %v", newer)
	}
	gone := row(8, byPosition, nil, cart)
	gone.Superseded = true
	if newer := newerWork([]*rows.Row{third, gone}); newer[third.ID] != nil {
		t.Errorf("a row that another took the place of: %v", newer)
	}
	tree := row(8, byPosition, nil, []string{"/w/tree/cart.go"})
	third.ProjectRoot, tree.ProjectRoot = "/w/shop", "/w/tree"
	if newer := newerWork([]*rows.Row{third, tree}); newer[third.ID] != tree {
		t.Errorf("in another working tree: %v", newer)
	}
	late := row(9, byPosition, nil, cart) // of the first request, behind what the second led to
	late.Prompt = first.Prompt
	if newer := newerWork([]*rows.Row{first, second, late}); newer[first.ID] != second || newer[late.ID] != second || newer[second.ID] != nil {
		t.Errorf("of a request that was answered late: %v", newer)
	}
}

// A line names newer work on the same by the handle under which that stands; it weighs less, and is marked only where there is room.
func TestNewerWorkIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	observed := func(o events.ObservationParsed) events.ID {
		o.Observation = newID()
		w.put(s.Stream(), o)
		return o.Observation
	}
	w.put(s.Stream(), events.PromptSubmitted{Number: 1, Text: "How are the orders sorted in the list of the shop?"})
	older := observed(events.ObservationParsed{Prompt: 1, Type: "discovery", Title: "Orders are sorted by CreatedAt", Narrative: "Orders are sorted by `CreatedAt`, the newest first."})
	w.put(s.Stream(), events.PromptSubmitted{Number: 2, Text: "Please sort them by the number of the order"})
	observed(events.ObservationParsed{
		Prompt: 2, Type: "discovery", Title: "The list is long", Narrative: "The list is long, as `orderList` holds closed orders too.",
	})
	observed(events.ObservationParsed{
		Prompt: 2, Type: "change", Title: "Orders go by number", Narrative: "Orders go by `Number`, no longer by `CreatedAt`.", FilesModified: []string{"/w/shop/order.go"},
	})
	ask := shop("startup", events.SessionID{})
	ask.Explain = true
	got := w.mustContext(ask)
	const line = "- m3 09:03 (newer: m5) asked: How are the orders sorted"
	if !strings.Contains(got.Text, line) || strings.Count(got.Text, "(newer: ") != 2 || !strings.Contains(got.Text, newerMeans) {
		t.Errorf("%q does not stand there once, with what it means:\n%s", line, got.Text)
	}
	for _, choice := range got.Explain {
		lowered := false
		for _, part := range choice.Parts {
			lowered = lowered || part.Factor == newerFactor
		}
		if lowered != (choice.ID == older) {
			t.Errorf("%s: %v", choice.Title, choice.Parts)
		}
	}
	ask.Characters = got.Characters - 1
	got = w.mustContext(ask)
	if strings.Contains(got.Text, "(newer: ") || strings.Contains(got.Text, newerMeans) || !strings.Contains(got.Text, "the newest first") {
		t.Errorf("where there is no room for it:\n%s", got.Text)
	}
}

// A result names newer work on the same that is found with it.
func TestResultsNameNewerWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	older := w.observe(s, "discovery", "Orders are sorted by CreatedAt", "Orders are sorted by `CreatedAt`, the newest first.")
	w.put(s.Stream(), events.ObservationParsed{
		Observation: newID(), Prompt: 2, Type: "change", Title: "Orders go by number", Narrative: "Orders go by `Number`, no longer by `CreatedAt`.", FilesModified: []string{"/w/shop/order.go"},
	})
	w.observe(s, "discovery", "Orders of `OtherName`", "")
	found := w.mustSearch(Query{Text: "orders"}).Results
	named := 0
	for _, it := range found {
		if want := it.ID == older; (it.Newer.String() == "m4") != want || !want && it.Newer.At != 0 {
			t.Errorf("%s: newer work is %q", it.Title, it.Newer)
		}
		named += min(1, int(it.Newer.At))
	}
	if len(found) != 3 || named != 1 {
		t.Errorf("of %d results %d name newer work", len(found), named)
	}
	list, err := w.Show(t.Context(), older.String(), "m4", found[2].ID.String())
	if err != nil {
		t.Fatal(err)
	}
	if names, err := w.Newer(t.Context(), list...); err != nil || len(names) != 1 || names[older].Handle.String() != "m4" || names[older].Title != "Orders go by number" {
		t.Errorf("of rows that are read whole: %v, %v", names, err)
	}
}

// TestNewerWorkIsWhatWasChanged: of the newer work of one request that is named which changed files, wherever it stands.
func TestNewerWorkIsWhatWasChanged(t *testing.T) {
	t.Parallel()
	for at := range 3 {
		w := newWorld(t)
		s := w.openIn("a", "/w/shop", "")
		older := w.observe(s, "discovery", "Orders are sorted by `CreatedAt`", "")
		want := newID()
		for i := range 3 {
			o := events.ObservationParsed{Observation: newID(), Prompt: 2, Type: "discovery", Title: fmt.Sprintf("The %d. fault is in `CreatedAt`", i)}
			if i == at {
				o = events.ObservationParsed{Observation: want, Prompt: 2, Type: "change", Title: "Orders go by `Number`, not by `CreatedAt`", FilesModified: []string{"/w/shop/order.go"}}
			}
			w.put(s.Stream(), o)
		}
		w.sync()
		list, err := w.Show(t.Context(), older.String())
		if err != nil {
			t.Fatal(err)
		}
		if found, err := w.Newer(t.Context(), list...); err != nil || found[older].ID != want {
			t.Errorf("at %d: %v, %v", at, found, err)
		}
	}
}

// TestNewerWorkOfManyFolders: however many folders a project has, as many of its newest rows are looked at as for a context.
func TestNewerWorkOfManyFolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const key = "remote:example.org/team/shop"
	a, b := w.openIn("a", "/src/shop", key), w.openIn("b", "/work/shop-2", key)
	older := w.observe(a, "discovery", "Orders are sorted by `CreatedAt`", "")
	newer := newID()
	w.put(b.Stream(), events.ObservationParsed{Observation: newer, Prompt: 2, Type: "change", Title: "Orders go by `Number`, not by `CreatedAt`"})
	named := func() map[events.ID]EntryPart {
		t.Helper()
		w.sync()
		list, err := w.Show(t.Context(), older.String(), newer.String())
		if err != nil {
			t.Fatal(err)
		}
		names, err := w.Newer(t.Context(), list[0])
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if names := named(); len(names) != 1 || names[older].ID != newer {
		t.Errorf("in another folder: %v", names)
	}
	for i := range newestObservations {
		w.observe(a, "change", fmt.Sprintf("The list has %d lines", i), "")
	}
	if names := named(); len(names) != 0 {
		t.Errorf("behind %d rows of another folder: %v", newestObservations, names)
	}
}

// By relevance newer work stands before what it goes on with, however much better that matches, and all others in their order. The next
// page begins behind the last that was found, and not behind what newer work was put before.
func TestNewerWorkIsFoundFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	older := w.observe(s, "discovery", "Orders are sorted by CreatedAt", "Orders are sorted by `CreatedAt`: sorted orders, the newest first.")
	newer := newID()
	w.put(s.Stream(), events.ObservationParsed{
		Observation: newer, Prompt: 2, Type: "change", Title: "By number", Narrative: "Sorted orders go by `Number`, no longer by `CreatedAt`.", FilesModified: []string{"/w/shop/order.go"},
	})
	best := w.observe(s, "discovery", "Sorted orders of `OtherName`", "Sorted orders, all of them.")
	last := w.observe(s, "discovery", "Other things", "Much else is in the shop, and some of it, but not much, is sorted by others, as the orders of others may be.")
	for _, brief := range []bool{false, true} {
		for sort, want := range map[Sort][]events.ID{Relevance: {best, newer, older, last}, Oldest: {older, newer, best, last}} {
			q := Query{Text: "sorted orders", Sort: sort, Brief: brief, Limit: 3}
			found := w.mustSearch(q)
			if got := idsOf(found.Results); !slices.Equal(got, want[:3]) {
				t.Errorf("%s: found %v, want %v", sort, names(got), names(want[:3]))
			}
			if named := found.Results[slices.Index(want, older)].Newer; named.At == 0 {
				t.Errorf("%s, brief %t: newer work is not named", sort, brief)
			}
			q.LastShown, q.Offset = found.Last, 3
			if got := idsOf(w.mustSearch(q).Results); !slices.Equal(got, want[3:]) {
				t.Errorf("%s: the second page has %v, want %v", sort, names(got), names(want[3:]))
			}
		}
	}
}

// What others said of code gives way to what came later of the same, own work or of its like.
func TestNewerWorkOverOutsideWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	outside := newID()
	w.put(s.Stream(), events.ObservationParsed{
		Observation: outside, Prompt: 1, Type: "discovery", Title: "Orders cannot be sorted by `CreatedAt`, the forum says", Origin: events.OriginOutside,
	})
	ask := Ask{ProjectRoot: "/src/shop", Project: "shop"}
	if got := w.mustContext(ask); !strings.Contains(got.Text, "the forum says") {
		t.Fatalf("alone: %s", got.Text)
	}
	w.put(s.Stream(), events.ObservationParsed{
		Observation: newID(), Prompt: 2, Type: "change", Title: "Orders are sorted by `CreatedAt`", FilesModified: []string{"/w/shop/order.go"},
	})
	if got := w.mustContext(ask); strings.Contains(got.Text, "the forum says") || !strings.Contains(got.Text, "Orders are sorted by") {
		t.Errorf("beside own work: %s", got.Text)
	}
	w.put(s.Stream(), events.ObservationParsed{
		Observation: newID(), Prompt: 3, Type: "discovery", Title: "Nothing is sorted by `CreatedAt`, says another page", Origin: events.OriginOutside,
	})
	if got := w.mustContext(ask); strings.Contains(got.Text, "the forum says") {
		t.Errorf("beside own work, and more of others: %s", got.Text)
	}
}
