package turn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/turn"
)

// whole loads the prompt of a summary turn that is offered all of a session; the last prompt in it is the one it serves.
func whole(t *testing.T, all ...events.Event) (p observer.Prompt, at []events.Position) {
	t.Helper()
	log, at := logged(t, append(all, events.AgentStopped{LastMessage: "All of it is done."})...)
	n := len(at) - 1
	w := session.Work{Kind: events.TurnSummary, Settles: at[n:], Offers: at[:n], Attempt: 1}
	for i, e := range all {
		if _, ok := e.(events.PromptSubmitted); ok {
			w.PromptAt = at[i]
		}
	}
	p, err := turn.New(turn.Config{Log: log}).Load(t.Context(), turn.Request{Turn: events.ID{1}, Work: w, Origin: session.Origin{Cwd: "/p"}})
	if err != nil {
		t.Fatal(err)
	}
	return p, at
}

func titled(list []events.ObservationParsed) (titles []string) {
	for _, o := range list {
		titles = append(titles, o.Title)
	}
	return titles
}

func seen(kind, title string, size int) events.ObservationParsed {
	return events.ObservationParsed{Type: kind, Title: title, Narrative: strings.Repeat("x", size-len(title))}
}

// TestASummaryReadsAllOfAShortSession but no earlier summary, and the prompt that it serves once.
func TestASummaryReadsAllOfAShortSession(t *testing.T) {
	t.Parallel()
	p, at := whole(t,
		events.PromptSubmitted{Text: "Raise the limit"}, seen("change", "Limit raised", 100), events.SummaryParsed{Request: "An earlier one"},
		events.PromptSubmitted{Text: "And test it"}, seen("change", "Limit tested", 100),
	)
	if p.Request != "And test it" || p.Message != "All of it is done." || p.Apart != 0 {
		t.Errorf("got %+v", p)
	}
	if diff := cmp.Diff([]string{"Raise the limit"}, p.Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Limit raised", "Limit tested"}, titled(p.Observed)); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]events.Position{at[0], at[1], at[4]}, p.Reads); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
}

// TestASummaryReadsTheNewestAndTheWeightiest of a session that is too long.
func TestASummaryReadsTheNewestAndTheWeightiest(t *testing.T) {
	t.Parallel()
	all := []events.Event{events.PromptSubmitted{Text: "Begin"}}
	for i := range 20 {
		kind := map[int]string{1: "decision", 2: "bugfix", 4: "feature"}[i]
		o := seen(kind, fmt.Sprint(i), 1000)
		if i == 1 {
			o.Unseen = true
		}
		all = append(all, o)
	}
	p, _ := whole(t, all...)
	if diff := cmp.Diff([]string{"2", "4", "14", "15", "16", "17", "18", "19"}, titled(p.Observed)); diff != "" || p.Apart != 2 {
		t.Errorf("%d stand apart (-want +got):\n%s", p.Apart, diff)
	}
}

// TestASummaryReadsTheFirstAndTheLastRequests, and long ones for no more than their beginning.
func TestASummaryReadsTheFirstAndTheLastRequests(t *testing.T) {
	t.Parallel()
	var all []events.Event
	for i := range 9 {
		all = append(all, events.PromptSubmitted{Text: fmt.Sprint(i, " ", strings.Repeat("x", 700))})
	}
	all = append(all, events.PromptSubmitted{Text: strings.Repeat("pasted ", 10_000)}, events.PromptSubmitted{Text: "the last"})
	p, _ := whole(t, all...)
	if len(p.Requests) != 2 || p.Requests[0][:1] != "0" || len(p.Requests[1]) != 70_000 || p.Request != "the last" {
		t.Errorf("got %d requests", len(p.Requests))
	}
}

// TestAnErasedOfferIsNotRead: its place is left out.
func TestAnErasedOfferIsNotRead(t *testing.T) {
	t.Parallel()
	log, at := logged(t, events.PromptSubmitted{Text: "secret"}, seen("change", "secret", 50), seen("change", "plain", 50), events.AgentStopped{})
	if err := log.Erase(t.Context(), at[:2]...); err != nil {
		t.Fatal(err)
	}
	p, err := turn.New(turn.Config{Log: log}).Load(t.Context(), turn.Request{
		Work: session.Work{Kind: events.TurnSummary, Settles: at[3:], Offers: append(slices.Clone(at[:3]), 999), Attempt: 1},
	})
	if err != nil || !cmp.Equal(p.Reads, at[2:3]) || !cmp.Equal(titled(p.Observed), []string{"plain"}) || len(p.Requests) != 0 {
		t.Errorf("got %+v, %v", p, err)
	}
}

// TestASummaryStaysWithinItsBudget whatever there is, and reads as many of the newest as there is room for.
func TestASummaryStaysWithinItsBudget(t *testing.T) {
	t.Parallel()
	sizes := rapid.SliceOfN(rapid.IntRange(10, 2000), 1, 60)
	rapid.Check(t, func(r *rapid.T) {
		all := []events.Event{}
		for i, n := range sizes.Draw(r, "sizes") {
			if rapid.IntRange(0, 3).Draw(r, "what") == 0 {
				all = append(all, events.PromptSubmitted{Text: strings.Repeat("p", n)})
				continue
			}
			all = append(all, seen(rapid.SampledFrom([]string{"change", "decision", "bugfix"}).Draw(r, "type"), fmt.Sprint(i), n))
		}
		p, at := whole(t, all...)
		size := 0
		for _, q := range p.Requests {
			size += min(len(q), 1024)
		}
		for _, o := range p.Observed {
			size += len(o.Title) + len(o.Narrative)
		}
		if size > 8<<10 || !slices.IsSorted(p.Reads) || len(p.Reads) != len(p.Requests)+len(p.Observed) || p.Apart > len(p.Observed) {
			r.Fatalf("%d bytes, reads %v, %d of %d apart", size, p.Reads, p.Apart, len(p.Observed))
		}
		for i, e := range slices.Backward(all) {
			if _, ok := e.(events.ObservationParsed); ok {
				if !slices.Contains(p.Reads, at[i]) {
					r.Fatalf("the newest, at %d, is not read: %v", at[i], p.Reads)
				}
				break
			}
		}
	})
}
