package recall

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

// lies adds n observations that name a commit which is not there.
func (w *world) lies(s events.SessionID, n int, title string) (ids []events.ID) {
	var list []events.Event
	for i := range n {
		ids = append(ids, newID())
		list = append(list, events.ObservationParsed{
			Observation: ids[i], Type: "bugfix", Title: fmt.Sprintf("%s %d", title, i), FilesModified: []string{"/src/shop/cart.go"},
			Claims: []events.Claim{{Kind: "commit", Value: "deadbee", Verdict: events.Absent}},
		})
	}
	w.put(s.Stream(), list...)
	return ids
}

// However much that is not injected came since, what may be injected is told.
func TestFlaggedRowsSilenceNothing(t *testing.T) {
	t.Parallel()
	for _, n := range []int{newestObservations - 1, newestObservations, 3 * newestObservations} {
		w := newWorld(t)
		s := w.open("a", "shop")
		var good []events.ID
		for i := range 5 {
			good = append(good, w.observe(s, "decision", fmt.Sprintf("Decision %d", i), ""))
		}
		w.lies(s, n, "A lie")
		ask := shop("startup", events.SessionID{})
		ask.Explain = true
		got := w.mustContext(ask)
		if diff := cmp.Diff(names(good), names(got.IDs)); diff != "" {
			t.Errorf("before %d flagged: -want +got\n%s", n, diff)
		}
		flagged := 0
		for _, c := range got.Explain {
			if strings.HasPrefix(c.Why, "flagged") {
				flagged++
			}
		}
		if want := min(n, newestObservations); flagged != want {
			t.Errorf("%d of %d flagged rows are explained, want %d", flagged, n, want)
		}
	}
}

// Rows without a root are found through the index, and go the same way.
func TestFlaggedRowsOfANameSilenceNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	good := w.observe(s, "decision", "The only decision", "")
	w.lies(s, 3*newestObservations, "A lie")
	if got := w.mustContext(Ask{Project: "shop"}); !cmp.Equal(got.IDs, []events.ID{good}) {
		t.Errorf("got %v, want %v", names(got.IDs), good)
	}
}

// After a resume neither the session's own work nor what it was told hides what is new.
func TestToldRowsSilenceNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, other := w.open("a", "shop"), w.open("b", "shop")
	w.observe(other, "bugfix", "Known already", "")
	first := w.mustContext(shop("startup", mine))
	w.put(mine.Stream(), events.ContextInjected{Hook: "startup", IDs: first.IDs, Position: events.Moment(first.Position)})
	fresh := w.observe(other, "bugfix", "Brand new", "")
	var told []events.ID
	for i := range newestObservations + 30 {
		told = append(told, w.observe(other, "change", fmt.Sprintf("Told at a prompt %d", i), ""))
		w.observe(mine, "change", fmt.Sprintf("The session's own %d", i), "")
	}
	w.put(mine.Stream(), events.ContextInjected{Hook: SourcePrompt, IDs: told, Position: 1})
	if got := w.mustContext(shop("resume", mine)); !cmp.Equal(got.IDs, []events.ID{fresh}) {
		t.Errorf("got %d rows, want the one that is new:\n%s", len(got.IDs), got.Text)
	}
}

// At a prompt or a file, too, what is flagged takes no place.
func TestFlaggedRowsSilenceNothingAtAPromptOrAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	good := newID()
	w.put(s.Stream(), events.ObservationParsed{
		Observation: good, Type: "bugfix", Title: "Rounding of discounts in the old checkout", FilesModified: []string{"/src/shop/cart.go"},
	})
	w.lies(s, 2*newestTouches, "Rounding of discounts in checkout")
	if got := w.mustContext(prompted(events.SessionID{}, "rounding of discounts in checkout")); !cmp.Equal(got.IDs, []events.ID{good}) {
		t.Errorf("at a prompt: got %v, want %v", names(got.IDs), good)
	}
	ask := Ask{ProjectRoot: "/src/shop", Project: "shop", Source: SourceFile, File: "/src/shop/cart.go"}
	if got := w.mustContext(ask); !cmp.Equal(got.IDs, []events.ID{good}) {
		t.Errorf("at a file: got %v, want %v", names(got.IDs), good)
	}
}

// A look ends, whatever there is: after so many rows, and after fewer that the session knew.
func TestLooksAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ since, want int }{{0, maxScanned}, {1_000_000, maxKnown}, {maxScanned - 100, maxKnown + 100}} {
		l := &scan{chooser: &chooser{since: events.Position(c.since)}}
		n := 0
		for ; !l.done(); n++ {
			l.fit(rows.Row{Position: events.Position(maxScanned - n), Flagged: true})
		}
		if n != c.want {
			t.Errorf("since %d: looked at %d rows, want %d", c.since, n, c.want)
		}
	}
}
