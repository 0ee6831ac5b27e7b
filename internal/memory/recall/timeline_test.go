package recall

import (
	"errors"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/google/go-cmp/cmp"
)

func TestTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, bank := w.open("a", "shop"), w.open("b", "shop"), w.open("c", "bank")
	one := w.observe(a, "change", "one", "")
	asked := w.put(b.Stream(), events.PromptSubmitted{Text: "two"})[0]
	w.observe(bank, "change", "elsewhere", "")
	three := w.observe(b, "change", "three carousels", "")
	at := w.now
	four := newID()
	w.put(a.Stream(), events.SummaryParsed{Summary: four, Request: "four"})
	five := newID()
	w.put(events.Daemon, events.MemorySaved{Memory: five, Project: "shop", ProjectRoot: "/src/shop", Text: "five"})
	w.sync()
	for _, tc := range []struct {
		name         string
		q            TimelineQuery
		older, newer []events.ID
	}{
		{"around a row, across sessions", TimelineQuery{Anchor: three.String()}, []events.ID{one, asked.ID}, []events.ID{four, five}},
		{"around the best hit", TimelineQuery{Text: "carousel", Before: 1, After: 1}, []events.ID{asked.ID}, []events.ID{four}},
		{"around a time", TimelineQuery{Anchor: at.Add(-time.Second).Format(time.RFC3339), Project: "/src/shop"}, []events.ID{one, asked.ID}, []events.ID{three, four, five}},
		{"of a named project", TimelineQuery{Anchor: "now", Project: "shop", Before: 2, After: -1}, []events.ID{four, five}, []events.ID{}},
		{"nothing on a side", TimelineQuery{Anchor: three.String(), Before: -1}, []events.ID{}, []events.ID{four, five}},
	} {
		got, err := w.Timeline(t.Context(), tc.q)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if diff := cmp.Diff([][]events.ID{tc.older, tc.newer}, [][]events.ID{idsOf(got.Before), idsOf(got.After)}); diff != "" {
			t.Errorf("%s: -want +got\n%s", tc.name, diff)
		}
		if (got.Anchor != nil) != (tc.q.Anchor == three.String() || tc.q.Text != "") {
			t.Errorf("%s: anchor %+v", tc.name, got.Anchor)
		}
	}
}

func TestTimelineErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sync()
	for _, tc := range []struct {
		q    TimelineQuery
		want error
	}{
		{TimelineQuery{}, ErrBadQuery},
		{TimelineQuery{Anchor: "yesterday"}, ErrBadID},
		{TimelineQuery{Anchor: "0123456789ab"}, ErrNotFound},
		{TimelineQuery{Text: "unheard of"}, ErrNotFound},
		{TimelineQuery{Anchor: "now", Before: 1000}, ErrBadQuery},
	} {
		if _, err := w.Timeline(t.Context(), tc.q); !errors.Is(err, tc.want) {
			t.Errorf("%+v: got %v, want %v", tc.q, err, tc.want)
		}
	}
}
